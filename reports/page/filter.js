(function () {
  var list = document.getElementById("case-list");
  if (!list) return;
  var cases = Array.prototype.slice.call(list.querySelectorAll("details.case"));
  if (cases.length < 2) return;
  var bar = document.createElement("p");
  bar.className = "filter";
  var label = document.createElement("label");
  label.textContent = "Show cases that contain ";
  var input = document.createElement("input");
  input.type = "search";
  label.appendChild(input);
  var count = document.createElement("output");
  bar.appendChild(label);
  bar.appendChild(count);
  list.parentNode.insertBefore(bar, list);
  var texts = cases.map(function (c) { return c.textContent.toLowerCase(); });
  function filter() {
    var want = input.value.toLowerCase(), n = 0;
    cases.forEach(function (c, i) {
      var hit = texts[i].indexOf(want) >= 0;
      c.hidden = !hit;
      if (hit) n++;
    });
    count.textContent = " " + n + " of " + cases.length;
  }
  input.addEventListener("input", filter);
  filter();
})();
