// Order of search results. Sphinx puts this file into the script of its search; all numbers but those of `score` are its own.
// A word in a title of the guide comes first, then the name of a class or function, then a word in a text of the guide, and
// last a word in a text of the generated reference.
var Scorer = {
  score: ([page, , , , score]) => {
    if (page.startsWith("reference/generated/")) return score - 9;
    return /^(start|guide)\/|^(choosing|faq|reference\/metrics)$/.test(page) ? score + 1 : score;
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
