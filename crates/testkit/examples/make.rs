//! Makes sessions and shows what their client sends when it resumes them: `make [source] [scenario]`.
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

use std::env;
use std::error::Error;
use std::path::Path;

use carryover_testkit::client::{Client, cache_folder};
use carryover_testkit::request::{Truth, compare_with_truth, read_items};
use carryover_testkit::scenario::{Abilities, CATALOG, list_sources, load_or_make};

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let is_wanted = |index: usize, name: &str| wanted.get(index).is_none_or(|wanted| name.contains(wanted.as_str()));
    for source in list_sources().iter().filter(|source| is_wanted(0, &source.label())) {
        let client = Client::find_or_install(source.lab, source.version, &cache_folder())?;
        let can = Abilities::from_lab(source.lab);
        for scenario in CATALOG.iter().map(|scenario| scenario(can)).filter(|scenario| is_wanted(1, scenario.name)) {
            println!("{} {}", source.label(), scenario.name);
            match load_or_make(&client, source, &scenario, Path::new("target/conformance")) {
                Err(error) => println!("  {error}"),
                Ok(made) => {
                    for item in read_items(&made.truth) {
                        let text: String = item.text.chars().take(90).collect();
                        println!("  {:?} {:?} {:?} {text:?}", item.role, item.kind, item.name);
                    }
                    let truth = Truth::new(&made.truth, &made.facts);
                    println!("  ghosts: {:?}", truth.ghosts.iter().map(|fact| &fact.about).collect::<Vec<_>>());
                    println!("  {:?}", compare_with_truth(&made.truth, &truth));
                }
            }
        }
    }
    Ok(())
}
