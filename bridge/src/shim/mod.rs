//! The stdio command.
