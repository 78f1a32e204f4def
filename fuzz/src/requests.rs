//! What is typed for columns: `COL:kernel`, `A*B`, `COL:bins=5`.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use sarl_data::{ColumnRef, Request, Schema, Source, Targets};

const TABLE: &str = "a,b,c,a:b,a*b,d:class\n1,x,2.5,1,0,u\n2,y,1.5,0,1,v\n3,x,0.5,1,1,u\n\
                     4,y,9.5,0,0,v\n5,x,7.5,1,0,u\n6,y,2.5,0,1,v\n7,z,3.5,1,1,u\n8,z,4.5,0,0,w\n";

fn source() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let name = format!("sarl-fuzz-request-{}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file = std::fs::File::create(&path).expect("a table can be written");
        file.write_all(TABLE.as_bytes()).expect("a table can be written");
        Source::open(&[&path]).expect("the table is one")
    })
}

/// Three lines of names with commas: targets, sensitive attributes, features.
pub(crate) fn request(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.split('\n').map(|line| line.split(',').collect::<Vec<_>>());
    let mut next = || lines.next().unwrap_or_default();
    let (targets, sensitives, features) = (next(), next(), next());
    let refs = |names: &[&str]| {
        names.iter().map(|n| n.parse::<ColumnRef>()).collect::<Result<Vec<_>, _>>()
    };
    if let Ok(refs) = refs(&sensitives) {
        for column in refs {
            let again: ColumnRef = column.to_string().parse().expect("what is shown can be typed");
            assert_eq!(again, column);
        }
    }
    let request = |targets, sensitives, features| Request {
        targets,
        sensitives,
        features,
        ..Request::default()
    };
    let (Ok(targets), Ok(sensitives)) = (Targets::parse(&targets), refs(&sensitives)) else {
        return;
    };
    let features = refs(&features).ok().filter(|f| !f.is_empty());
    let go_on = &mut |_| ControlFlow::Continue(());
    let request = request(targets, sensitives, features);
    let _ = source().inspect(&request, go_on);
    let Ok(schema) = Schema::learn(source(), &request, go_on) else { return };
    let json = schema.to_json().expect("a schema can be written");
    Schema::from_json(&json).expect("a schema that was written is read");
}
