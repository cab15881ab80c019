/* Fetches the page that was asked for with the token, and shows it in the place of the form. */
"use strict";

const KEY = "sandbox-agent.docs.token";
const form = document.querySelector("form");
const errorLine = document.querySelector("[role=alert]");

async function open(token) {
  const answer = await fetch(location.pathname, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) {
    sessionStorage.removeItem(KEY);
    const problem = await answer.json();
    throw new Error(problem.detail ?? problem.title);
  }
  sessionStorage.setItem(KEY, token);
  if (answer.headers.get("content-type").startsWith("text/html")) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.documentElement.replaceWith(page.documentElement);
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  } else {
    const text = document.createElement("pre");
    text.textContent = JSON.stringify(await answer.json(), null, 2);
    document.title = location.pathname;
    document.body.replaceChildren(text);
  }
}

function tryToOpen(token) {
  open(token).catch((error) => {
    errorLine.textContent = error.message;
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  tryToOpen(new FormData(form).get("token").trim());
});

/* As for the inspector, a link may bring the token in its fragment, which no browser sends anywhere. */
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) history.replaceState(null, "", location.pathname);
const token = given ?? sessionStorage.getItem(KEY);
if (token) tryToOpen(token);
