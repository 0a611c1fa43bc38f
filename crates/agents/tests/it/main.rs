//! What must hold for every agent.

mod drift;
mod hostile;
mod places;
mod support;
