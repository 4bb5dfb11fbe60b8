(function () {
  var units = { s: 1, m: 60, h: 3600, d: 86400 };
  function duration(text) {
    if (!/^-?[0-9]+[smhd]\b/.test(text)) { return NaN; }
    var sum = 0;
    text.split("±")[0].replace(/([0-9]+)([smhd])/g, function (part, count, unit) { sum += count * units[unit]; });
    return text.charAt(0) === "-" ? -sum : sum;
  }
  function key(cell) {
    var bar = cell.querySelector("[data-v]");
    var text = bar ? bar.getAttribute("data-v") : cell.textContent;
    var number = duration(text);
    number = isNaN(number) ? parseFloat(text) : number;
    return isNaN(number) ? [1, text.toLowerCase()] : [0, number];
  }
  function order(a, b) {
    if (a[0] !== b[0]) { return a[0] - b[0]; }
    return a[0] === 0 ? a[1] - b[1] : a[1].localeCompare(b[1], undefined, { numeric: true });
  }
  document.querySelectorAll("table").forEach(function (table) {
    var body = table.tBodies[0];
    table.querySelectorAll("thead th").forEach(function (heading, column) {
      var sign = -1;
      function sort() {
        sign = -sign;
        Array.from(body.rows).map(function (row) { return [key(row.cells[column]), row]; })
          .sort(function (a, b) { return sign * order(a[0], b[0]); })
          .forEach(function (pair) { body.appendChild(pair[1]); });
        table.querySelectorAll("thead th").forEach(function (other) { other.removeAttribute("aria-sort"); });
        heading.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
      }
      heading.tabIndex = 0;
      heading.classList.add("sortable");
      heading.addEventListener("click", sort);
      heading.addEventListener("keydown", function (event) { if (event.key === "Enter") { sort(); } });
    });
  });
  document.querySelectorAll("[data-filter]").forEach(function (part) {
    var input = document.createElement("input");
    input.type = "search";
    input.placeholder = "Filter " + part.getAttribute("data-filter");
    input.setAttribute("aria-label", input.placeholder);
    input.addEventListener("input", function () {
      var wanted = input.value.toLowerCase();
      part.querySelectorAll("tbody tr, .map span, details.one, .group").forEach(function (one) {
        var text = (one.getAttribute("title") || one.textContent).toLowerCase();
        one.style.display = text.indexOf(wanted) === -1 ? "none" : "";
      });
    });
    part.insertBefore(input, part.firstChild);
  });
  function reveal() {
    var target = location.hash.length === 0 ? null : document.getElementById(location.hash.slice(1));
    var part = target;
    while (part) {
      if (part.tagName === "DETAILS") { part.open = true; }
      part = part.parentElement;
    }
    if (target) { target.scrollIntoView(); }
  }
  window.addEventListener("hashchange", reveal);
  reveal();
}());
