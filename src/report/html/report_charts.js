// SPDX-License-Identifier: Apache-2.0
// Verdict cards, the two plots and the table of cases.
// `word` is null where no lift is known.
const verdictClass = (word) => word === null ? '' : VERDICTS[word].class;
const verdictSign = (word) => VERDICTS[word].sign;

function intervalText(v) {
  const these = v.low === null || v.high === null ? null : `likely ${points(v.low)} … ${points(v.high)} on these cases`;
  if (!v.new_cases) return these;
  return minus(v.new_cases) + ' on new cases' + (these === null ? '' : ` · ${these}`);
}

function meterRow(name, arm, className) {
  if (!arm) return [];
  const value = rate(arm);
  return [
    el('span', null, name),
    el('div', {class: 'track', role: 'img', 'aria-label': percent(value)}, el('div', {class: 'fill ' + className, css: {width: (value || 0) * 100 + '%'}})),
    el('span', {class: 'number'}, `${percent(value)}  ${number(arm.passed)}/${number(arm.answered)}`),
  ];
}

function cardFacts(student) {
  const facts = [];
  const add = (name, value) => facts.push(el('dt', null, ...unbroken(name)), el('dd', null, ...unbroken(value)));
  for (const [name, value] of student.facts) add(name, minus(value));
  for (const [arm, other] of Object.entries(student.others)) {
    add('vs ' + ARM_LABELS[arm], `${points(other.lift)}${other.low === null ? '' : ` (${points(other.low)} … ${points(other.high)})`} ${verdictSign(other.word)} ${other.word}`);
  }
  for (const tag of student.tags.slice(0, 20)) {
    const range = tag.low === null ? '' : ` (${points(tag.low)} … ${points(tag.high)})`;
    add(isolated(tag.label), tag.lift === null ? '–' : `${points(tag.lift)}${range}, ${plural(tag.cases, 'case')}`);
  }
  for (const note of student.notes) add('note', isolated(note));
  for (const [name, value] of student.counts) add(name, value);
  return facts;
}

function drawCards(run) {
  // The models that the result names come first.
  const rank = (student) => { const at = run.result[0].indexOf(student.name); return at < 0 ? run.result[0].length : at; };
  $('cards').replaceChildren(...[...run.students].sort((a, b) => rank(a) - rank(b)).map((student) => {
    const v = student.verdict;
    const facts = cardFacts(student);
    return el('article', {class: 'card'},
      el('div', {class: 'row'}, el('h3', null, label(student.name)),
        el('span', {class: 'verdict ' + verdictClass(v.word)}, v.word === null ? '–' : `${verdictSign(v.word)} ${v.claim}`)),
      v.lift === null ? null : el('p', {class: 'lift'}, points(v.lift), el('small', null, ['points', intervalText(v)].filter(Boolean).join(' · '))),
      el('div', {class: 'meter'}, ...run.arms.flatMap((arm) => meterRow(ARM_LABELS[arm], student.arms[arm], arm))),
      facts.length ? el('dl', null, ...facts) : null,
      ...v.remarks.map((remark) => el('p', {class: 'remark'}, label(remark))));
  }));
}

function shorten(text, most) {
  const characters = Array.from(plainLabel(text));
  return '\u2068' + (characters.length > most ? characters.slice(0, most - 1).join('') + '…' : characters.join('')) + '\u2069';
}

function drawLift(run) {
  const box = $('lift-plot');
  const shown = run.students.filter((student) => student.verdict.lift !== null);
  $('lift-section').hidden = shown.length === 0;
  if (shown.length === 0) return;
  const width = Math.max(260, box.clientWidth), row = 34, top = 8, left = 12, right = 12;
  const values = shown.flatMap(({verdict: v}) => [v.low ?? v.lift, v.high ?? v.lift, v.new_low ?? 0, v.new_high ?? 0, 0]);
  const low = Math.max(-1, Math.floor(Math.min(...values, -0.1) * 5) / 5), high = Math.min(1, Math.ceil(Math.max(...values, 0.1) * 5) / 5);
  const x = (value) => left + (value - low) / (high - low) * (width - left - right);
  const bottom = top + shown.length * row;
  const svg = el('svg:svg', {viewBox: `0 0 ${width} ${bottom + 24}`, height: bottom + 24, role: 'img', 'aria-label': 'Lift of each model with its likely range'});
  const step = (high - low) > 1 ? 0.5 : (high - low) > 0.5 ? 0.2 : 0.1;
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9; tick += step) {
    svg.append(el('svg:line', {class: Math.abs(tick) < 1e-9 ? 'zero' : 'grid', x1: x(tick), x2: x(tick), y1: top, y2: bottom}),
      el('svg:text', {x: x(tick), y: bottom + 16, 'text-anchor': 'middle'}, points(tick) || '0'));
  }
  shown.forEach(({name, verdict: v}, index) => {
    const middle = v.lift, y = top + index * row + 24, kind = verdictClass(v.word);
    const mark = el('svg:g', null, el('svg:title', null, `${isolated(name)}: ${points(middle)} points ${intervalText(v) || ''}, ${v.word}`));
    if (v.new_low !== null && v.new_high !== null) mark.append(el('svg:line', {class: 'interval new ' + kind, x1: x(v.new_low), x2: x(v.new_high), y1: y, y2: y}));
    if (v.low !== null && v.high !== null) mark.append(el('svg:line', {class: 'interval ' + kind, x1: x(v.low), x2: x(v.high), y1: y, y2: y}));
    mark.append(el('svg:circle', {class: kind, cx: x(middle), cy: y, r: 5}));
    const text = `${verdictSign(v.word)} ${shorten(name, Math.floor(width / 11))}  ${points(middle)}`, wide = text.length * 7;
    const wanted = x(middle) > width * 0.6 ? Math.max(x(middle), x(v.high ?? middle)) - wide : Math.min(x(middle), x(v.low ?? middle));
    mark.append(el('svg:text', {class: 'name', x: Math.max(0, Math.min(wanted, width - wide)), y: y - 10}, text));
    svg.append(mark);
  });
  box.replaceChildren(svg);
}

// Mean prompt and output tokens per answer in one arm; null if unknown.
const meanTokens = (arm) => arm && arm.answered > 0 && arm.prompt_tokens !== null
  ? (arm.prompt_tokens + arm.output_tokens) / arm.answered : null;

function scatterPoints(run) {
  return run.students.map((student) => ({
    name: student.name, verdict: student.verdict.word,
    without: run.reference && {tokens: meanTokens(student.arms[run.reference]), rate: rate(student.arms[run.reference])},
    with: {tokens: meanTokens(student.arms.skill), rate: rate(student.arms.skill)},
  })).filter((entry) => entry.with.tokens !== null);
}

// The wanted positions, moved at least `gap` apart, between `low` and `high` as far as they fit.
function spread(wanted, gap, low, high) {
  const order = wanted.map((_, index) => index).sort((a, b) => wanted[a] - wanted[b]), places = [];
  let least = low;
  for (const index of order) least = (places[index] = Math.max(wanted[index], least)) + gap;
  let most = high;
  for (const index of order.reverse()) most = (places[index] = Math.min(places[index], most)) - gap;
  return places;
}

function drawScatter(run) {
  const box = $('scatter'), shown = scatterPoints(run);
  $('scatter-section').hidden = shown.length === 0;
  if (shown.length === 0) return;
  const width = Math.max(260, box.clientWidth), height = Math.max(220, Math.min(320, shown.length * 34 + 60));
  const named = shown.length <= 20, letters = width < 420 ? 13 : 22;
  const names = shown.map((entry) => named ? shorten(entry.name, letters) : '');
  const left = 44, right = 14 + (named ? Math.max(...names.map((name) => name.length)) * 7 + 14 : 0), top = 12, bottom = height - 40;
  const tokens = shown.flatMap((entry) => [entry.with.tokens, entry.without?.tokens ?? entry.with.tokens]);
  const most = Math.max(...tokens, 1) * 1.12, least = Math.min(...tokens);
  const start = least > most * 0.5 ? least * 0.85 : 0;
  const x = (value) => left + (value - start) / (most - start) * (width - left - right);
  const y = (value) => bottom - value * (bottom - top);
  const svg = el('svg:svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': 'Tokens per answer and pass rate of each model'});
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(el('svg:line', {class: 'grid', x1: left, x2: width - right, y1: y(tick), y2: y(tick)}),
      el('svg:text', {x: left - 8, y: y(tick) + 4, 'text-anchor': 'end'}, percent(tick)));
  }
  const rough = (most - start) / 5, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  for (let tick = Math.ceil(start / step) * step; tick <= most; tick += step) {
    svg.append(el('svg:text', {x: x(tick), y: bottom + 17, 'text-anchor': 'middle'}, number(tick)));
  }
  svg.append(el('svg:text', {x: width - right, y: height - 2, 'text-anchor': 'end'}, 'tokens per answer'));
  // Names are in a column on the right, each as close to its dot as possible.
  const places = spread(shown.map((entry) => y(entry.with.rate)), 15, top, bottom);
  shown.forEach((entry, index) => {
    const px = x(entry.with.tokens), py = y(entry.with.rate), mark = el('svg:g', null, el('svg:title', null,
      `${isolated(entry.name)}: ${percent(entry.with.rate)} with ${number(entry.with.tokens)} tokens`));
    if (entry.without && entry.without.tokens !== null) {
      mark.append(el('svg:line', {class: 'way', x1: x(entry.without.tokens), y1: y(entry.without.rate), x2: px, y2: py}),
        el('svg:circle', {class: 'ring', cx: x(entry.without.tokens), cy: y(entry.without.rate), r: 4.5}));
    }
    if (named) {
      mark.append(el('svg:line', {class: 'lead', x1: px, y1: py, x2: width - right + 8, y2: places[index]}),
        el('svg:text', {class: 'name', x: width - right + 12, y: places[index] + 4}, names[index]));
    }
    mark.append(el('svg:circle', {class: 'dot', cx: px, cy: py, r: 5}));
    svg.append(mark);
  });
  box.replaceChildren(svg);
}

function mapCell(run, student, index, tallies, pick) {
  const at = (arm) => tallies[(index * run.students.length + student) * run.arms.length + run.arms.indexOf(arm)];
  const share = (tally) => tally.answered ? tally.passed / tally.answered : null;
  const after = run.arms.includes('skill') ? at('skill') : null, before = run.reference ? at(run.reference) : null;
  const now = after ? share(after) : null, was = before ? share(before) : null;
  const count = (tally) => tally.answered ? `${tally.passed}/${tally.answered}` : '–';
  let text = [before && count(before), after && count(after)].filter(Boolean).join(' → ');
  let color = null, sign = '';
  if (now !== null && was !== null) {
    const change = now - was;
    sign = change > 0 ? '▲ ' : change < 0 ? '▼ ' : now === 1 ? '✓ ' : now === 0 ? '✗ ' : '';
    if (change !== 0) color = `rgb(var(--${change > 0 ? 'good' : 'bad'}-wash) / ${0.14 + 0.36 * Math.abs(change)})`;
  } else if (now !== null || was !== null) {
    color = `rgb(var(--accent-wash) / ${0.05 + 0.35 * (now ?? was)})`;
  }
  const errors = (after?.errors || 0) + (before?.errors || 0);
  if (errors) text += ' !';
  return el('td', null, el('button', {
    type: 'button', css: color ? {background: color} : {}, onclick: () => pick(student, index),
    title: `${isolated(run.students[student].name)}, ${isolated(run.cases[index].id)}${errors ? ': ' + plural(errors, 'error') : ''}`,
  }, sign + text));
}

let mapRows = 60;
function drawMap(run, tallies, pick) {
  const baseline = run.reference ? `${ARM_LABELS[run.reference]} → with skill` : 'with skill';
  $('map-hint').textContent = `Passed answers in ${run.rounds_text}: ${baseline}. ▲ better, ▼ worse, ✓ always passed, ✗ never passed, ! errors. Click a cell to open its answers.`;
  const rows = run.cases.slice(0, mapRows).map((one, index) => el('tr', null, el('th', {scope: 'row', title: plainLabel(one.id)}, label(one.id)),
    ...run.students.map((_, student) => mapCell(run, student, index, tallies, pick))));
  $('map').replaceChildren(
    el('thead', null, el('tr', null, el('th'), ...run.students.map((student) => el('th', {scope: 'col', title: plainLabel(student.name)}, label(student.name))))),
    el('tbody', null, ...rows));
  const left = run.cases.length - rows.length;
  $('map-more').hidden = left <= 0;
  $('map-more').textContent = `Show ${number(Math.min(left, 200))} more of ${plural(run.cases.length, 'case')}`;
  $('map-more').onclick = () => { mapRows += 200; drawMap(run, tallies, pick); };
}
