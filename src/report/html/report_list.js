// SPDX-License-Identifier: Apache-2.0
// The list of answers: filters, search, keyboard shortcuts. Entries are added to the page as the user scrolls.
const OUTCOMES = [['', 'all'], ['passed', 'passed'], ['failed', 'failed'], ['error', 'error'], ['fixed', 'passed only with the skill'], ['broken', 'passed only without it'],
  ['truncated', 'truncated'], ['refused', 'refusal'], ['skipped', 'check skipped']];
const PAGE = 40, FIRST_ROUNDS = 3;

let run = null;        // the current entry of data.runs
let samples = null;    // its columns: student, case, arm, round, state, stop, answer, reasoning, checks, prompt, output, ms, work, cost
let groups = [];       // {caseIndex, student, members: sample indices}, ordered by case, then student
let partner = null;    // for each sample of the reference or skill arm, the sample of the other arm in the same round, else −1
let matches = null;    // for each sample, 1 if it matches the filters
let found = [];        // groups with a matching sample
let shownGroups = 0;
let query = '';
let searches = 0;

const groupKey = (i) => samples.case[i] * run.students.length + samples.student[i];

function readSamples(index) {
  run = data.runs[index];
  samples = embedded('samples-' + index);
  const total = samples.state.length, byKey = new Map(), pairs = new Map();
  const tallies = Array.from({length: run.cases.length * run.students.length * run.arms.length}, () => ({passed: 0, answered: 0, errors: 0}));
  const skill = run.arms.indexOf('skill'), reference = run.arms.indexOf(run.reference);
  partner = new Int32Array(total).fill(-1);
  for (let i = 0; i < total; ++i) {
    const key = groupKey(i), group = byKey.get(key);
    if (group) group.push(i); else byKey.set(key, [i]);
    const tally = tallies[key * run.arms.length + samples.arm[i]];
    if (samples.state[i] === ERROR) ++tally.errors;
    else { ++tally.answered; tally.passed += samples.state[i]; }
    if (reference < 0 || (samples.arm[i] !== skill && samples.arm[i] !== reference)) continue;
    const pair = key + ':' + samples.round[i], other = pairs.get(pair);
    if (other === undefined) pairs.set(pair, i);
    else { partner[i] = other; partner[other] = i; pairs.delete(pair); }
  }
  groups = [...byKey.keys()].sort((a, b) => a - b).map((key) => (
    {caseIndex: Math.floor(key / run.students.length), student: key % run.students.length, members: byKey.get(key)}));
  // A page that doesn't have all answers has their counts.
  (run.tallies || []).forEach(([passed, answered, errors], i) => { tallies[i] = {passed, answered, errors}; });
  return tallies;
}

function hasOutcome(i, outcome) {
  const state = samples.state[i], other = partner[i];
  switch (outcome) {
    case 'passed': return state === PASS;
    case 'failed': return state === 0;
    case 'error': return state === ERROR;
    case 'truncated': return state !== ERROR && [1, 4, 5].includes(samples.stop[i]);
    case 'refused': return state !== ERROR && samples.stop[i] === 2;
    case 'skipped': return samples.checks[i] >= 0 && checkSets[samples.checks[i]].some((check) => check[1] === 2);
    case 'fixed': case 'broken': {
      if (other < 0) return false;
      const [before, after] = run.arms[samples.arm[i]] === 'skill' ? [samples.state[other], state] : [state, samples.state[other]];
      return outcome === 'fixed' ? before === 0 && after === PASS : before === PASS && after === 0;
    }
  }
  return true;
}

// For each sample, whether one of its texts contains the query. Null if another search has started in the meantime.
async function searchHits(ticket) {
  const texts = await textsWith(query, () => ticket === searches);
  if (!texts || ticket !== searches) return null;
  const names = run.cases.map((one) => one.id.toLowerCase().includes(query) || texts[one.input] === 1);
  const sets = checkSets.map((set) => set.some((check) => texts[check[0]] === 1 || (check[2] >= 0 && texts[check[2]] === 1)));
  const hits = new Uint8Array(samples.state.length);
  for (let i = 0; i < hits.length; ++i) {
    if (names[samples.case[i]] || texts[samples.answer[i]] || (samples.reasoning[i] >= 0 && texts[samples.reasoning[i]]) || (samples.checks[i] >= 0 && sets[samples.checks[i]])) hits[i] = 1;
  }
  return hits;
}

async function applyFilters() {
  const ticket = ++searches;
  query = $('search').value.trim().toLowerCase();
  const wanted = {student: $('student').value, case: $('case').value, arm: $('arm').value};
  const outcome = $('outcome').value;
  if (query) $('count').textContent = 'Searching…';
  const hits = query ? await searchHits(ticket) : null;
  if (ticket !== searches) return;
  const numbers = Object.entries(wanted).filter(([, value]) => value !== '').map(([key, value]) => [samples[key], Number(value)]);
  matches = new Uint8Array(samples.state.length);
  let count = 0;
  for (let i = 0; i < matches.length; ++i) {
    if (numbers.some(([column, value]) => column[i] !== value) || (outcome && !hasOutcome(i, outcome)) || (hits && !hits[i])) continue;
    matches[i] = 1;
    ++count;
  }
  found = groups.filter((group) => group.members.some((i) => matches[i]));
  const word = samples.state.includes(ERROR) ? 'cell' : 'answer';
  $('count').textContent = count === matches.length ? plural(count, word)
    : `${number(count)} of ${plural(matches.length, word)}` + (count === 0 ? '. No answer matches these filters.' : '');
  shownGroups = 0;
  $('items').replaceChildren();
  showMore();
}

function showMore() {
  const next = found.slice(shownGroups, shownGroups + PAGE);
  $('items').append(...next.map(groupItem));
  shownGroups += next.length;
  const left = found.length - shownGroups;
  $('more').hidden = left <= 0;
  $('more').textContent = `Show more (${number(left)} left)`;
}

function signOf(i) {
  const state = samples.state[i];
  return state === PASS ? ['pass', '✓'] : state === ERROR ? ['error', '!'] : ['fail', '✗'];
}

function tallyText(members, arm) {
  const own = members.filter((i) => samples.arm[i] === arm);
  if (own.length === 0) return null;
  const passed = own.filter((i) => samples.state[i] === PASS).length, answered = own.filter((i) => samples.state[i] !== ERROR).length;
  const signs = own.length > 8 ? [] : own.map((i) => { const [kind, sign] = signOf(i); return el('b', {class: kind, 'aria-hidden': 'true'}, sign); });
  return el('span', {class: 'tally'}, `${ARM_LABELS[run.arms[arm]]} ${passed}/${answered}`, ...signs);
}

function groupItem(group) {
  const one = run.cases[group.caseIndex];
  const summary = el('summary', null,
    el('span', {class: 'id'}, el('b', null, label(one.id)), ...(run.students.length > 1 ? [' · ', label(run.students[group.student].name)] : [])),
    ...run.arms.map((_, arm) => tallyText(group.members, arm)));
  const details = el('details', {ontoggle: () => {
    if (details.open && details.childElementCount === 1) details.append(groupBody(group));
  }}, summary);
  return el('li', null, details);
}

function groupBody(group) {
  const one = run.cases[group.caseIndex], body = el('div', {class: 'body'});
  body.append(el('h4', null, 'Input'), textBlock(textAt(one.input), query));
  for (const file of one.files) {
    const cut = file.shown < file.bytes ? ` (the first ${number(file.shown)} of ${number(file.bytes)} bytes)` : '';
    const details = el('details', {class: 'file', ontoggle: () => {
      if (details.open && details.childElementCount === 1) details.append(textBlock(textAt(file.text), query));
    }}, el('summary', null, 'File ', label(file.name), cut));
    body.append(details);
  }
  const rounds = new Map();
  for (const i of group.members) {
    const own = rounds.get(samples.round[i]);
    if (own) own.push(i); else rounds.set(samples.round[i], [i]);
  }
  const fitting = [...rounds.entries()].filter(([, own]) => own.some((i) => matches[i])).sort((a, b) => a[0] - b[0]);
  let shown = 0;
  const button = el('button', {type: 'button', class: 'small', onclick: () => show(20)});
  const show = (amount) => {
    for (const [round, own] of fitting.slice(shown, shown + amount)) button.before(roundBlock(round, own));
    shown = Math.min(fitting.length, shown + amount);
    button.textContent = `Show ${Math.min(20, fitting.length - shown)} more of ${plural(fitting.length, 'round')}`;
    button.hidden = shown >= fitting.length;
  };
  body.append(button);
  show(FIRST_ROUNDS);
  return body;
}

function roundBlock(round, own) {
  const arm = $('arm').value;
  const shown = own.filter((i) => arm === '' || samples.arm[i] === Number(arm)).sort((a, b) => samples.arm[a] - samples.arm[b]);
  return el('div', null, run.rounds > 1 ? el('h4', null, `Round ${round + 1}`) : el('h4', null, 'Answers'),
    workDifference(shown), el('div', {class: 'arms'}, ...shown.map(sampleBlock)));
}

function sampleBlock(i) {
  const state = samples.state[i], [kind, sign] = signOf(i);
  const word = state === PASS ? 'passed' : state === ERROR ? 'error' : 'failed';
  const aside = [];
  if (state !== ERROR) {
    if (STOPS[samples.stop[i]]) aside.push(STOPS[samples.stop[i]]);
    if (samples.prompt[i] === null) aside.push('tokens unknown');
    else aside.push(`${number(samples.prompt[i])} + ${number(samples.output[i])} tokens`);
    if (samples.ms[i] > 0) aside.push((samples.ms[i] / 1000).toFixed(1) + ' s');
    if (samples.cost && samples.cost[i] !== null) aside.push(money(samples.cost[i]));
  }
  const box = el('div', {class: 'sample' + (state === 0 ? ' failed' : state === ERROR ? ' errored' : '')},
    el('div', {class: 'what'}, el('span', null, ARM_LABELS[run.arms[samples.arm[i]]]),
      el('span', {class: 'state ' + kind}, `${sign} ${word}`), el('span', {class: 'aside'}, aside.join(' · '))));
  if (samples.checks[i] >= 0) box.append(el('ul', {class: 'checks'}, ...checkSets[samples.checks[i]].map(checkItem)));
  if (samples.reasoning[i] >= 0) {
    box.append(el('details', {class: 'reasoning', ontoggle: (event) => {
      if (event.target.childElementCount === 1) event.target.append(textBlock(textAt(samples.reasoning[i]), query));
    }}, el('summary', null, 'Reasoning')));
  }
  if (samples.work[i] >= 0) box.append(transcript(JSON.parse(textAt(samples.work[i]))));
  box.append(textBlock(textAt(samples.answer[i]), query));
  return box;
}

// What was done in a workspace, folded by turn.
function transcript(turns) {
  const calls = turns.reduce((sum, turn) => sum + turn.calls.length, 0);
  const errors = turns.reduce((sum, turn) => sum + turn.calls.filter((call) => call.error).length, 0);
  const box = el('details', {class: 'reasoning transcript'}, el('summary', null,
    `${plural(turns.length, 'turn')}, ${plural(calls, 'tool call')}` + (errors > 0 ? `, ${plural(errors, 'tool error')}` : '')));
  turns.forEach((turn, n) => {
    const names = turn.calls.map((call) => plainLabel(call.name).slice(0, 40) + (call.error ? ' ✗' : '')).join(', ');
    const one = el('details', {class: 'reasoning', ontoggle: () => {
      if (!one.open || one.childElementCount > 1) return;
      if (turn.text) one.append(textBlock(turn.text, query));
      one.append(...turn.calls.map(callBlock));
    }}, el('summary', null, `${n + 1}. ${names || 'answer'}`));
    box.append(one);
  });
  return box;
}

// One call: a command line, a file as it was written, an edit as a diff; else the arguments as they are.
function callBlock(call) {
  let given = null;
  try { given = JSON.parse(call.arguments); } catch { /* cut, or no JSON */ }
  if (given === null || typeof given !== 'object') given = {};
  const path = [given.path, given.file_path, given.filePath].find((one) => typeof one === 'string');
  const command = Array.isArray(given.command) ? given.command.join(' ') : given.command;
  const box = el('div', {class: 'call'}, el('div', {class: 'what'}, el('b', null, label(call.name.slice(0, 60))),
    ...(path ? [' ', label(path)] : []), ...(call.error ? [el('span', {class: 'state fail'}, ' ✗ tool error')] : [])));
  const [before, after] = [given.old_text ?? given.old_string, given.new_text ?? given.new_string];
  if (typeof command === 'string') box.append(textBlock('$ ' + command, query));
  else if (typeof before === 'string' && typeof after === 'string') box.append(diffBlock(before, after));
  else if (typeof given.content === 'string') box.append(diffBlock('', given.content));
  else if (!path || Object.keys(given).length > 1) box.append(textBlock(call.arguments, query));
  if (call.result) box.append(textBlock(call.result, query));
  if (call.changed) box.append(el('div', {class: 'aside'}, 'changed: ', label(call.changed.join(', '))));
  return box;
}

// The lines that go and those that come; equal ones at both ends are shown once.
function diffBlock(before, after) {
  const old = before === '' ? [] : before.split('\n'), now = after === '' ? [] : after.split('\n');
  let head = 0, tail = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) ++head;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) ++tail;
  const pre = el('pre', {class: 'diff', dir: 'auto'});
  const add = (sign, lines, kind) => lines.forEach((line) => {
    const one = el(kind, null, sign + ' ');
    putText(one, line + '\n', query);
    pre.append(one);
  });
  add(' ', old.slice(0, head), 'span');
  add('-', old.slice(head, old.length - tail), 'del');
  add('+', now.slice(head, now.length - tail), 'ins');
  add(' ', now.slice(now.length - tail), 'span');
  return el('div', null, pre);
}

// What the arms did differently in one round: how often each tool was called, and what failed.
function workDifference(shown) {
  const worked = shown.filter((i) => samples.work[i] >= 0);
  if (worked.length < 2) return null;
  const counts = worked.map((i) => {
    const tools = new Map();
    for (const turn of JSON.parse(textAt(samples.work[i]))) {
      for (const call of turn.calls) {
        const name = plainLabel(call.name).slice(0, 40);
        tools.set(name, (tools.get(name) || 0) + 1);
        if (call.error) tools.set('tool errors', (tools.get('tool errors') || 0) + 1);
      }
    }
    return tools;
  });
  const names = [...new Set(counts.flatMap((tools) => [...tools.keys()]))].filter((name) => new Set(counts.map((tools) => tools.get(name) || 0)).size > 1);
  if (names.length === 0) return el('div', {class: 'difference'}, 'The arms called the same tools equally often.');
  const parts = names.map((name) => `${name} ${counts.map((tools) => tools.get(name) || 0).join(' → ')}`);
  const arms = worked.map((i) => ARM_LABELS[run.arms[samples.arm[i]]]).join(' → ');
  return el('div', {class: 'difference'}, `Tool calls, ${arms}: ${parts.join(', ')}`);
}

function checkItem([name, outcome, detail]) {
  const sign = outcome === 1 ? '✓' : outcome === 2 ? '–' : '✗';
  const kind = outcome === 1 ? 'pass' : outcome === 2 ? 'error' : 'fail';
  const line = el('li', {class: outcome === 1 ? null : outcome === 2 ? 'missed skipped' : 'missed'},
    el('span', {class: 'sign ' + kind, role: 'img', 'aria-label': outcome === 1 ? 'passed' : outcome === 2 ? 'skipped' : 'failed'}, sign), label(textAt(name).slice(0, 500)));
  if (detail >= 0) line.append(el('span', {class: 'detail'}, ' — ', label(textAt(detail).slice(0, 2000))));
  return line;
}
