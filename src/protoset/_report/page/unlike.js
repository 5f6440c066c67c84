// Objects unlike anything: test and training objects that are far from their nearest prototype for its surroundings.

const unlikeSorting = { key: "times", descending: true };

function unlikeRows() {
  const isInFilter = (row) => state.cell === null || (row.code === state.cell[0] && row.nearest_code === state.cell[1]);
  return model.unlike.objects.filter(isInFilter).map((row) => ({ ...row, part: row.test ? "test" : "training", id: row.object[1], name: className(row.code), near: row.prototype[1] }));
}

function unlikeObject(row) {
  const [index] = row.object;
  if (index < 0) return isolate(row.id);
  return row.test ? pictured(queries, index, row.code, queryLink(index)) : namedObject(row.object);
}

function showUnlike() {
  const rows = unlikeRows(), isAnyTest = rows.some((row) => row.test);
  const columns = [
    { key: "id", name: "object", cell: unlikeObject },
    { key: "part", name: "part", present: isAnyTest, cell: (row) => row.part },
    { key: "name", name: "class", cell: (row) => classTag(row.code) },
    { key: "times", name: "times as far", numeric: true, cell: (row) => number(row.times) },
    { key: "distance", name: "distance", numeric: true, cell: (row) => number(row.distance) },
    { key: "usual", name: "usual there", numeric: true, cell: (row) => number(row.usual) },
    { key: "near", name: model.moved ? "real case of the nearest prototype" : "nearest prototype", cell: (row) => el("span", { class: "near" }, namedObject(row.prototype), " ", classTag(row.nearest_code)) },
  ].filter((column) => column.present !== false);
  const box = byId("unlike-table");
  if (rows.length) showSortable(box, "Objects far from their nearest prototype", columns, rows, unlikeSorting);
  else replace(box, el("p", { class: "quiet" }, state.cell === null ? "There are none." : "None is of the class and the prediction of the filter."));
}

function unlikeNote() {
  const { n_novel: novel, rate } = model.unlike, far = "How far an object is from its nearest prototype, as a multiple of the usual distance there, which is the mean over the training objects near this prototype. ";
  const tested = !queries ? "" : novel === null
    ? "Test objects are listed by this alone. "
    : `${novel === 0 ? "No test object is" : plural(novel, "test object is", "test objects are")} unlike anything seen: farther than ${chance(1 - rate)} of held-out training objects. `;
  return far + tested + "The training objects listed are the farthest: look whether they belong to the data.";
}

function startUnlike() {
  byId("unlike").hidden = model.unlike.objects.length === 0 && model.unlike.n_novel === null;
  if (byId("unlike").hidden) return;
  replace(byId("unlike-note"), unlikeNote());
  on("filter", showUnlike);
  showUnlike();
}
