//! Texts that are hostile by accident or on purpose: no panic, and work that grows with the length.
