// What is written on the answers to a question, in one place.

export const ONCE = /^Allow once$/;
export const MINUTES = /^15 minutes$/;
export const QUIT = /^Until quit$/;
export const MORE = /^More…$/;
export const ALWAYS = /^Always$/;
export const LET_IN = /^Let it in$/;
export const DENY = /^Deny$/;
export const DENY_TOOL = /^Deny and block this tool$/;
export const DENY_AGENT = /^Deny all from this agent/;
export const SHOW_IT = /^Show it$/;
