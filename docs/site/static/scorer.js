// The order of the site's search: the numbers are those of Sphinx, and pages for users come before what is behind them.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    if (/^(decisions|results|about)\/|^(claims|architecture|promises|stability|accuracy)$/.test(docname)) return score - 12;
    if (/^api\//.test(docname)) return kind === "object" ? score : score - 6;
    if (docname === "glossary") return score + 9;
    if (/^(how-to|coming-from)\/|^(start|which-method)$/.test(docname)) return score + 4;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
