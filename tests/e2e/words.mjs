// What is written on what the tests press, in one place.

export const ONCE = /^Allow once/;
export const MINUTES = /15 minutes/;
export const ALWAYS = /always/i;
export const DENY = /^Deny$/;
export const DENY_TOOL = /^Deny and block/;
export const DENY_AGENT = /^Deny all/;
