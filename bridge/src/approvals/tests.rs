//! Tables and properties of the policy.
