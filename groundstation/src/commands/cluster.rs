//! How detections are grouped: the options of `cluster`, `process` and `evaluate`.

use crate::entity::{ClusterOptions, EntityConfig, Order, REFINE_ROUNDS};
use crate::merges::MergeModel;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `cluster`.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// The scene's folder.
    pub scene: PathBuf,
    #[command(flatten)]
    pub(super) options: GroupOptions,
}

#[derive(Clone, Debug, Args)]
pub(super) struct GroupOptions {
    /// Join detections within this distance, metres; found from the scene by default.
    #[arg(long)]
    epsilon: Option<f64>,
    /// Which detections are taken first: the most confident, as the paper has it, or those whose
    /// place is surest.
    #[arg(long, value_enum, default_value = "confidence")]
    order: OrderName,
    /// Rounds in which each photo's detections are assigned anew, all at once; 0 leaves the
    /// greedy result.
    #[arg(long, value_name = "ROUNDS", default_value_t = REFINE_ROUNDS)]
    refine: usize,
    /// A merge model of your own, from `merges fit`; ours is built in.
    #[arg(long, value_name = "FILE")]
    merge_model: Option<PathBuf>,
    /// Join groups of detections that are one vehicle with this probability; 1.1 joins none.
    #[arg(long, value_name = "PROBABILITY")]
    merge_from: Option<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    Confidence,
    Geometry,
}

impl GroupOptions {
    pub(super) fn config(&self) -> anyhow::Result<EntityConfig> {
        let default = EntityConfig::default();
        Ok(EntityConfig {
            merge_model: match &self.merge_model {
                Some(path) => MergeModel::read(path)?,
                None => default.merge_model,
            },
            merge_from: self.merge_from.unwrap_or(default.merge_from),
            review_from: default.review_from,
            cluster: ClusterOptions {
                epsilon_m: self.epsilon,
                order: match self.order {
                    OrderName::Confidence => Order::Confidence,
                    OrderName::Geometry => Order::Geometry,
                },
                refine_rounds: self.refine,
            },
        })
    }
}
