//! Vehicles scored by the votes of their views, from responses with ids.

use crate::coverage::Coverage;
use crate::label::LabelPair;
use crate::points::{Points, PointsSum};
use crate::vote::elect;
use std::collections::BTreeMap;
use std::fmt;

/// A vehicle and the views of it that are asked about.
#[derive(Clone, Debug)]
pub struct ExpectedVehicle {
    /// Its id.
    pub id: String,
    /// What it is.
    pub label: LabelPair,
    /// The ids of its views.
    pub views: Vec<String>,
}

/// A vote that several labels won.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The vehicle's id.
    pub vehicle: String,
    /// The component, `brand` or `pair`.
    pub component: &'static str,
}

impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.vehicle, self.component)
    }
}

/// What the votes came to.
#[derive(Clone, Debug, PartialEq)]
pub struct VehicleScores {
    /// The mean over vehicles of the elected brand; none while a vehicle is incomplete.
    pub brand: Option<f64>,
    /// The mean over vehicles of the elected pair; likewise.
    pub pair: Option<f64>,
    /// Vehicles with a view that has no response, or more than one; sorted.
    pub incomplete: Vec<String>,
    /// Votes of complete vehicles that several labels won.
    pub ties: Vec<Tie>,
    /// How the responses' ids met the views'.
    pub coverage: Coverage,
}

/// Lets the views of every vehicle vote. A response that says nothing votes for empty labels.
#[must_use]
pub fn score_vehicles<'a>(
    vehicles: &[ExpectedVehicle],
    responses: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> VehicleScores {
    let responses: Vec<(&str, &str)> = responses.into_iter().collect();
    let views = vehicles.iter().flat_map(|vehicle| &vehicle.views);
    let coverage = Coverage::of(
        views.map(String::as_str),
        responses.iter().map(|(id, _)| *id),
    );
    let by_view: BTreeMap<&str, &str> = responses
        .into_iter()
        .filter(|(id, _)| {
            coverage
                .duplicates
                .binary_search_by(|d| d.as_str().cmp(id))
                .is_err()
        })
        .collect();
    let mut scores = VehicleScores {
        brand: None,
        pair: None,
        incomplete: Vec::new(),
        ties: Vec::new(),
        coverage,
    };
    let (mut brand, mut pair) = (PointsSum::default(), PointsSum::default());
    for vehicle in vehicles {
        let votes = vehicle.views.iter().map(|view| {
            let response = by_view.get(view.as_str())?;
            Some(LabelPair::of_response(response).unwrap_or_default())
        });
        let votes = votes.collect::<Option<Vec<LabelPair>>>();
        let Some(elected) = votes.and_then(|votes| elect(&votes)) else {
            scores.incomplete.push(vehicle.id.clone());
            continue;
        };
        brand.add(Points::all_or_nothing(elected.brand == vehicle.label.brand));
        pair.add(Points::all_or_nothing(elected.pair == vehicle.label));
        let tied = [
            ("brand", elected.brand_was_tied),
            ("pair", elected.pair_was_tied),
        ];
        let tied = tied.into_iter().filter(|(_, was_tied)| *was_tied);
        scores.ties.extend(tied.map(|(component, _)| Tie {
            vehicle: vehicle.id.clone(),
            component,
        }));
    }
    scores.incomplete.sort();
    if scores.incomplete.is_empty() {
        scores.brand = brand.mean();
        scores.pair = pair.mean();
    }
    scores
}
