//! rten: pure Rust, always there, on the processor only.

use super::{EngineReport, Session, SessionSource, Tensor};
use crate::error::DetectorError;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::NdTensorView;
use rten_tensor::prelude::*;
use std::sync::Arc;

const NAME: &str = "rten";
/// The version pinned in the workspace's manifest; a test compares the two.
pub(super) const VERSION: &str = "0.27.0";

/// rten looks at operators, not at the version of their set; operators of sets newer than those it
/// was written for may mean something else.
const NEWEST_OPSET: u64 = 25;

pub(super) fn start(
    source: &SessionSource<'_>,
    threads: usize,
) -> Result<(Box<dyn Session>, EngineReport), DetectorError> {
    let refused = |reason: String| DetectorError::EngineLoad {
        engine: NAME,
        reason,
    };
    if let Some(opset) = source.opset.filter(|&opset| opset > NEWEST_OPSET) {
        return Err(refused(format!(
            "its operator set {opset} is newer than {NEWEST_OPSET}, the newest known; export it \
             with an older one"
        )));
    }
    let mut options = ModelOptions::with_all_ops();
    options.prepack_weights(true);
    for (name, bytes) in source.external_data {
        options.external_data(name, bytes.to_vec());
    }
    let loaded = options.load(source.bytes.to_vec());
    let model = loaded.map_err(|error| refused(error.to_string()))?;
    let input = model
        .node_id(source.input)
        .map_err(|error| refused(error.to_string()))?;
    let outputs = source
        .outputs
        .iter()
        .map(|name| model.node_id(name))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| refused(error.to_string()))?;
    let session = PureRust {
        model,
        input,
        outputs,
        threads: Arc::new(ThreadPool::with_num_threads(threads)),
    };
    let report = EngineReport {
        name: NAME.to_owned(),
        version: VERSION.to_owned(),
        provider: "cpu".to_owned(),
        library: None,
        passed_over: Vec::new(),
    };
    Ok((Box::new(session), report))
}

struct PureRust {
    model: Model,
    input: NodeId,
    outputs: Vec<NodeId>,
    threads: Arc<ThreadPool>,
}

impl Session for PureRust {
    fn run(&mut self, shape: [usize; 4], values: &[f32]) -> Result<Vec<Tensor>, DetectorError> {
        let failed = |reason: String| DetectorError::EngineRun {
            engine: NAME,
            reason,
        };
        let view = NdTensorView::from_data(shape, values);
        let inputs = vec![(self.input, ValueOrView::from(view.as_dyn()))];
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(&self.threads));
        let (model, outputs) = (&self.model, &self.outputs);
        // A caller that is itself a worker of a thread pool would, while it waits for rten's pool,
        // begin other work of its own, in which the same detector may be wanted. A thread that
        // belongs to no pool just waits.
        let answered = std::thread::scope(|scope| {
            scope
                .spawn(move || model.run(inputs, outputs, Some(options)))
                .join()
        });
        let answered = answered
            .map_err(|_| failed("it panicked".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        answered
            .into_iter()
            .map(|value| {
                widened(value).ok_or_else(|| failed("an output holds no numbers".to_owned()))
            })
            .collect()
    }
}

fn widened(value: Value) -> Option<Tensor> {
    match value {
        Value::FloatTensor(tensor) => Some(Tensor {
            shape: tensor.shape().to_vec(),
            values: tensor.into_data(),
        }),
        // Counts and class indices: far below 2^24, where f32 stops being exact.
        Value::Int32Tensor(tensor) => Some(Tensor {
            shape: tensor.shape().to_vec(),
            values: tensor.iter().map(|&value| value as f32).collect(),
        }),
        _ => None,
    }
}
