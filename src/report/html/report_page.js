// SPDX-License-Identifier: Apache-2.0
// Builds the page and handles clicks and keys.
function fillSelect(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => el('option', {value}, text)));
}

// Cases that every model always passed, with and without the skill, and cases that no model ever passed.
function steadyCases(tallies) {
  const each = run.students.length * run.arms.length, always = [], never = [];
  run.cases.forEach((one, index) => {
    const own = tallies.slice(index * each, (index + 1) * each);
    if (own.some((tally) => tally.answered === 0)) return;
    if (own.every((tally) => tally.passed === tally.answered)) always.push(one.id);
    if (own.every((tally) => tally.passed === 0)) never.push(one.id);
  });
  return {always, never};
}

// The result in a sentence, what else belongs to it, and what the skill costs or saves.
function drawResult() {
  const [first, ...grounds] = run.result;
  const several = run.students.length > 1;
  const costs = run.expenses.map(([name, text]) => several ? `${plainLabel(name)} ${text}` : text);
  if (costs.length) grounds.push(`What the skill takes per 1,000 answers: ${costs.join('; ')}.`);
  const sentence = (text) => el('bdi', null, ...unbroken(minus(plainLabel(text))));
  return [el('p', {class: 'result'}, sentence(first)), el('ul', {class: 'grounds'}, ...grounds.map((text) => el('li', null, sentence(text))))];
}

function drawHead(tallies) {
  const facts = [plural(run.cases.length, 'case'), run.rounds_text, run.arms.map((arm) => ARM_LABELS[arm]).join(', '),
    `${number(run.answered)} of ${number(run.cells)} answers`];
  if (run.skill_tokens) facts.push(`skill about ${number(run.skill_tokens)} tokens`);
  facts.push(...run.remarks);
  $('head').replaceChildren(el('h1', null, label(run.skill)), ...(run.description ? [el('p', {class: 'about'}, label(run.description))] : []),
    ...drawResult(), el('p', {class: 'facts'}, ...[run.run && 'run ' + run.run, timeText(run.created), ...facts].filter(Boolean).map((fact) => el('span', null, label(fact)))));
  document.title = plainLabel(run.skill) + ' · upskill report';
  const notices = [];
  if (run.answered < run.cells) notices.push(`Incomplete: ${plural(run.cells - run.answered, 'unanswered cell')}. Pass rates count answers only.`);
  const {always, never} = steadyCases(tallies);
  const names = (list) => list.slice(0, 12).map(isolated).join(', ') + (list.length > 12 ? ', …' : '');
  if (never.length) notices.push(`${plural(never.length, 'case')} never passed: ${names(never)}`);
  if (always.length) notices.push(`${plural(always.length, 'case')} always passed, ${run.arms.includes('baseline') ? 'with and without the skill' : 'with both versions'}, so ${always.length === 1 ? 'it shows' : 'they show'} nothing about the skill: ${names(always)}`);
  $('notices').replaceChildren(...notices.map((text) => el('p', {class: 'notice'}, el('bdi', null, ...unbroken(text)))));
}

function drawRunsTable() {
  if (data.runs.length < 2) return;
  $('all-runs').hidden = false;
  $('run-choice').hidden = false;
  const rows = data.runs.flatMap((entry, index) => entry.students.map((student) => el('tr', null,
    el('td', null, el('button', {type: 'button', class: 'link', onclick: () => { $('run').value = index; showRun(index); }}, label(entry.run || String(index + 1)))),
    el('td', null, label(entry.skill)),
    ...student.cells.map((text, column) => el('td', data.words.columns[column] === 'verdict' ? {class: 'verdict ' + verdictClass(student.verdict.word)} : null, label(minus(text)))))));
  $('runs-table').replaceChildren(el('thead', null, el('tr', null, ...['run', 'skill', ...data.words.columns].map((head) => el('th', {scope: 'col'}, head)))),
    el('tbody', null, ...rows));
  fillSelect($('run'), data.runs.map((entry, index) => [index, `${isolated(entry.run || String(index + 1))} · ${isolated(entry.skill)}`]));
}

function drawPlots() {
  drawLift(run);
  drawScatter(run);
}

function clearFilters() {
  for (const id of ['search', 'student', 'case', 'arm', 'outcome']) $(id).value = '';
}

function pickCell(student, caseIndex) {
  clearFilters();
  $('student').value = student;
  $('case').value = caseIndex;
  applyFilters().then(() => {
    const first = document.querySelector('#items details');
    if (!first) return;
    first.open = true;
    $('answers').scrollIntoView();
    first.firstChild.focus({preventScroll: true});
  });
}

function showRun(index) {
  const tallies = readSamples(index);
  drawHead(tallies);
  drawCards(run);
  drawPlots();
  drawMap(run, tallies, pickCell);
  fillSelect($('student'), [['', 'all'], ...run.students.map((student, i) => [i, plainLabel(student.name)])]);
  fillSelect($('case'), [['', 'all'], ...run.cases.map((one, i) => [i, plainLabel(one.id)])]);
  fillSelect($('arm'), [['', 'all'], ...run.arms.map((arm, i) => [i, ARM_LABELS[arm]])]);
  fillSelect($('outcome'), OUTCOMES);
  applyFilters();
}

// Moves the focus by `step` cases, or to the first case if none has it.
function moveFocus(step) {
  const all = [...document.querySelectorAll('#items > li > details > summary')];
  if (all.length === 0) return;
  const now = all.findIndex((summary) => summary.parentElement.contains(document.activeElement));
  const next = now < 0 ? 0 : Math.min(all.length - 1, Math.max(0, now + step));
  if (next >= all.length - 3 && shownGroups < found.length) showMore();
  all[next].focus();
  all[next].scrollIntoView({block: 'nearest'});
}

function escape() {
  const focus = document.activeElement, open = focus && focus.closest && focus.closest('#items > li > details[open]');
  if (focus === $('search')) {
    if ($('search').value) { $('search').value = ''; applyFilters(); }
    focus.blur();
  } else if (open) {
    open.open = false;
    open.firstChild.focus();
  } else {
    clearFilters();
    applyFilters();
  }
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === 'Escape') escape();
  else if (typing) return;
  else if (event.key === '/') $('search').focus();
  else if (event.key === 'j') moveFocus(1);
  else if (event.key === 'k') moveFocus(-1);
  else if (event.key === '?') $('help').showModal();
  else return;
  event.preventDefault();
});

let typingTimer = 0;
$('search').addEventListener('input', () => {
  clearTimeout(typingTimer);
  typingTimer = setTimeout(applyFilters, 150);
});
for (const id of ['student', 'case', 'arm', 'outcome']) $(id).addEventListener('change', applyFilters);
$('filters').addEventListener('submit', (event) => event.preventDefault());
$('clear').addEventListener('click', () => { clearFilters(); applyFilters(); });
$('more').addEventListener('click', showMore);
$('run').addEventListener('change', () => showRun(Number($('run').value)));
$('help-button').addEventListener('click', () => $('help').showModal());

const theme = {
  dark: () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark',
  set(name) { document.documentElement.dataset.theme = name; },
};
$('theme').addEventListener('click', () => theme.set(theme.dark() ? 'light' : 'dark'));

let plotWidth = 0;
new ResizeObserver(() => {
  const width = $('scatter').clientWidth;
  if (run && width !== plotWidth) drawPlots();
  plotWidth = width;
}).observe(document.querySelector('main'));
new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting) && shownGroups > 0 && shownGroups < found.length) showMore();
}, {rootMargin: '400px'}).observe($('more'));

drawRunsTable();
showRun(data.runs.length - 1);
$('run').value = data.runs.length - 1;
$('foot').textContent = `upskill · self-contained file, no network access · pass rates are based on answers; errors are counted separately`;
