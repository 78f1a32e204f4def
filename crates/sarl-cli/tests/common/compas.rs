//! A table like ProPublica's `compas-scores-two-years.csv` as it is downloaded: the same columns
//! and the same trouble, with made-up people.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub const ROWS: usize = 7214;

/// `decile_score` and `priors_count` come twice.
const HEADER: &str = "id,name,first,last,compas_screening_date,sex,dob,age,age_cat,race,\
juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,days_b_screening_arrest,\
c_jail_in,c_jail_out,c_case_number,c_offense_date,c_arrest_date,c_days_from_compas,\
c_charge_degree,c_charge_desc,is_recid,r_case_number,r_charge_degree,r_days_from_arrest,\
r_offense_date,r_charge_desc,r_jail_in,r_jail_out,violent_recid,is_violent_recid,vr_case_number,\
vr_charge_degree,vr_offense_date,vr_charge_desc,type_of_assessment,decile_score,score_text,\
screening_date,v_type_of_assessment,v_decile_score,v_score_text,v_screening_date,in_custody,\
out_custody,priors_count,start,end,event,two_year_recid";

/// The text that cannot be learned from.
pub const USELESS: &str =
    "name,first,last,c_case_number,r_case_number,violent_recid,vr_case_number";

fn day(rng: &mut ChaCha8Rng, years: std::ops::Range<u32>) -> String {
    let (year, month, day) =
        (rng.random_range(years), rng.random_range(1..13), rng.random_range(1..29));
    format!("{year}-{month:02}-{day:02}")
}

fn time(rng: &mut ChaCha8Rng) -> String {
    let (hour, minute, second) =
        (rng.random_range(0..24), rng.random_range(0..60), rng.random_range(0..60));
    format!("{} {hour:02}:{minute:02}:{second:02}", day(rng, 2013..2015))
}

/// The table.
pub fn csv() -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let lines: Vec<String> = (1..=ROWS).map(|id| row(&mut rng, id).join(",")).collect();
    format!("{HEADER}\n{}\n", lines.join("\n"))
}

fn row(rng: &mut ChaCha8Rng, id: usize) -> Vec<String> {
    let one = |rng: &mut ChaCha8Rng, of: &[&str]| of.choose(rng).unwrap_or(&"").to_string();
    let below = |rng: &mut ChaCha8Rng, most: u32| rng.random_range(0..most).to_string();
    let (again, violent, gap) =
        (rng.random_bool(0.48), rng.random_bool(0.11), rng.random_bool(0.04));
    let only = |there: bool, cell: String| if there { cell } else { String::new() };
    let (first, last) = (format!("f{}", below(rng, 2800)), format!("l{}", below(rng, 4000)));
    let age = rng.random_range(18..84u32);
    let priors = below(rng, 38);
    let score = (1 + rng.random_range(0..10u32)).to_string();
    let races = ["African-American", "Caucasian", "Hispanic", "Other", "Asian", "Native American"];
    let levels = ["Low", "Medium", "High"];
    vec![
        id.to_string(),
        format!("{first} {last}"),
        first,
        last,
        day(rng, 2013..2015),
        one(rng, &["Male", "Female"]),
        day(rng, 1930..1996),
        age.to_string(),
        one(rng, &["Less than 25", "25 - 45", "Greater than 45"]),
        one(rng, &races),
        below(rng, 20),
        score.clone(),
        below(rng, 13),
        below(rng, 17),
        priors.clone(),
        only(!gap, format!("-{}", below(rng, 30))),
        only(!gap, time(rng)),
        only(!gap, time(rng)),
        format!("13{id:06}CF10A"),
        only(!gap, day(rng, 2012..2015)),
        only(rng.random_bool(0.16), day(rng, 2012..2015)),
        below(rng, 400),
        one(rng, &["F", "M"]),
        format!("charge {}", below(rng, 437)),
        u8::from(again).to_string(),
        only(again, format!("14{id:06}MM20A")),
        only(again, one(rng, &["(F3)", "(M1)", "(M2)"])),
        only(again, below(rng, 900)),
        only(again, day(rng, 2013..2017)),
        only(again, format!("charge {}", below(rng, 340))),
        only(again, day(rng, 2013..2017)),
        only(again, day(rng, 2013..2017)),
        String::new(),
        u8::from(violent).to_string(),
        only(violent, format!("15{id:06}CF")),
        only(violent, one(rng, &["(F2)", "(F3)"])),
        only(violent, day(rng, 2013..2017)),
        only(violent, format!("violence {}", below(rng, 83))),
        "Risk of Recidivism".to_owned(),
        score,
        one(rng, &levels),
        day(rng, 2013..2015),
        "Risk of Violence".to_owned(),
        below(rng, 10),
        one(rng, &levels),
        day(rng, 2013..2015),
        day(rng, 2013..2015),
        day(rng, 2013..2017),
        priors,
        below(rng, 300),
        below(rng, 1100),
        u8::from(again).to_string(),
        u8::from(again).to_string(),
    ]
}
