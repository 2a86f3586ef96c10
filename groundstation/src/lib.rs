//! From drone photos to vehicles with identities, questions and scores.
