/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is nicer with a pointer: figures under the cursor, and tables in another order. The report is whole without it. */
"use strict";
(function () {
  var tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.appendChild(tip);

  function show(event, text) {
    tip.textContent = text;
    tip.hidden = !text;
    var right = event.clientX + 14 + tip.offsetWidth > innerWidth;
    tip.style.left = (right ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14) + "px";
    tip.style.top = (event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - 8 - tip.offsetHeight
                                                                          : event.clientY + 16) + "px";
  }

  /* What a mark says without us is its <title>; shown at once and near, it is not also shown by the browser. */
  document.querySelectorAll("figure > svg").forEach(function (svg) {
    svg.querySelectorAll("title").forEach(function (title) {
      if (title.parentNode !== svg) {
        title.parentNode.dataset.tip = title.textContent;
        title.remove();
      }
    });
    svg.addEventListener("pointermove", function (event) {
      show(event, event.target.dataset && event.target.dataset.tip || "");
    });
    svg.addEventListener("pointerleave", function (event) { show(event, ""); });
  });

  function order(table, column, button) {
    var head = button.parentNode, up = head.getAttribute("aria-sort") === "descending", body = table.tBodies[0];
    function value(row) {
      var cell = row.cells[column], number = cell.getAttribute("data-v");
      return number === null ? cell.textContent : Number(number);
    }
    Array.from(body.rows).map(function (row) { return [value(row), row]; }).sort(function (a, b) {
      var less = typeof a[0] === "number" && typeof b[0] === "number" ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0]));
      return up ? less : -less;
    }).forEach(function (pair) { body.appendChild(pair[1]); });
    table.querySelectorAll("th[aria-sort]").forEach(function (th) { th.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  }

  document.querySelectorAll("table.sortable").forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append.apply(button, Array.from(head.childNodes));
      button.addEventListener("click", function () { order(table, column, button); });
      head.appendChild(button);
    });
  });

  /* Paper cannot be clicked. */
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details.job").forEach(function (one) {
      one.dataset.was = one.open ? "1" : "";
      one.open = true;
    });
  });
  addEventListener("afterprint", function () {
    document.querySelectorAll("details.job").forEach(function (one) { one.open = one.dataset.was === "1"; });
  });
})();
