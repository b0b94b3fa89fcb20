//! Every chart with plausible and with awful data, as one page for a look and for checks.

pub(crate) mod awful;
pub(crate) mod noise;
pub(crate) mod plausible;

use wavetank_report::chart::CHART_CSS;

/// A page of figures, with the style sheet of a report.
pub(crate) fn page(figures: &[String]) -> String {
    let style = "body{margin:0 auto;max-width:1100px;padding:16px;font:15px/1.5 system-ui,sans-serif;background:var(--chart-paper);\
                 color:var(--chart-ink)}";
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"/><title>Charts</title><style>{CHART_CSS}{style}</style></head>\
         <body><h1>Charts</h1>{}</body></html>",
        figures.concat()
    )
}
