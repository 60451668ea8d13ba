// SPDX-License-Identifier: Apache-2.0
// The embedded data, and the display of untrusted text: always as text nodes, with invisible characters made visible.
'use strict';

const $ = (id) => document.getElementById(id);
const embedded = (id) => JSON.parse($(id).textContent);
const data = embedded('data');
const checkSets = embedded('checks');

const PASS = 1, ERROR = 2;  // values of samples.state; 0: failed
const STOPS = ['', 'truncated', 'refusal', 'stopped at a tool call', 'context full', 'cut at 8 MiB by upskill'];
const ARM_LABELS = data.words.arms, VERDICTS = data.words.verdicts;
const SVG = 'http://www.w3.org/2000/svg';

// el('p', {class: 'x', onclick: f, css: {width: '3px'}}, child, …); 'svg:line' creates an SVG element.
function el(tag, attributes, ...children) {
  const node = tag.startsWith('svg:') ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'css') Object.assign(node.style, value);
    else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Control characters, bidirectional marks and overrides, zero-width and tag characters.
const HIDDEN = /(?:[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f])+/g;

function visible(characters) {
  let out = '';
  for (const character of characters) {
    const code = character.codePointAt(0);
    if (code <= 0x9f) out += '\\x' + code.toString(16).padStart(2, '0');
    else out += '[U+' + code.toString(16).toUpperCase().padStart(4, '0') + ']';
  }
  return out;
}

// Text on one line, with its direction isolated from the surrounding text.
function label(text) {
  return el('bdi', null, text.replace(/[\r\n\t]+/g, ' ').replace(HIDDEN, visible));
}
function plainLabel(text) { return label(text).textContent; }
// The same for use inside other text, where no element can isolate it.
function isolated(text) { return '\u2068' + plainLabel(text) + '\u2069'; }

// The text in parts for `el`: names of options, and numbers with their units, stay on one line.
function unbroken(text) {
  const kept = /(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*|[+−-]?[\d.,]+ (?:%|points?|s|ms|min|MiB)(?![a-z]))/;
  return String(text).split(kept).map((part, i) => (i % 2 ? el('span', {class: 'whole'}, part) : part));
}

// Puts `text` into `node`; invisible characters and matches of `query` (lower case) are marked.
function putText(node, text, query) {
  const parts = [];
  const put = (piece) => {
    let from = 0;
    for (const match of piece.matchAll(HIDDEN)) {
      if (match.index > from) parts.push(piece.slice(from, match.index));
      parts.push(el('span', {class: 'ctl'}, visible(match[0])));
      from = match.index + match[0].length;
    }
    if (from < piece.length) parts.push(piece.slice(from));
  };
  text = text.replaceAll('\r\n', '\n');
  const lower = query ? text.toLowerCase() : '';
  let from = 0;
  if (query && lower.length === text.length) {
    for (let hits = 0, at = lower.indexOf(query); at >= 0 && hits < 500; ++hits, at = lower.indexOf(query, from)) {
      put(text.slice(from, at));
      parts.push(el('mark', null, text.slice(at, at + query.length).replace(HIDDEN, visible)));
      from = at + query.length;
    }
  }
  put(text.slice(from));
  for (let i = 0; i < parts.length; i += 10000) node.append(...parts.slice(i, i + 10000));
}

// Shows the beginning of a long text, and the rest a part at a time on request.
function textBlock(text, query) {
  const FIRST = 4000, MORE = 100000;
  const pre = el('pre', {dir: 'auto'});
  const box = el('div', null, pre);
  if (text === '') {
    pre.append(el('span', {class: 'hint'}, '(empty)'));
    return box;
  }
  let shown = 0;
  const button = el('button', {type: 'button', class: 'small', onclick: () => show(MORE)});
  const show = (amount) => {
    let end = Math.min(text.length, shown + amount);
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1])) ++end;
    putText(pre, text.slice(shown, end), query);
    shown = end;
    const left = text.length - shown;
    button.textContent = `Show ${number(Math.min(left, MORE))} more of ${number(text.length)} characters`;
    if (left === 0) button.remove();
  };
  const hit = query ? text.toLowerCase().indexOf(query) : -1;
  show(Math.min(MORE, Math.max(FIRST, hit + query.length + 200)));
  if (shown < text.length) box.append(button);
  return box;
}

// The table of texts is stored in chunks that are parsed on demand.
const chunkCache = new Map();
function chunk(index) {
  let texts = chunkCache.get(index);
  if (!texts) {
    texts = embedded('text-' + index);
    chunkCache.set(index, texts);
    if (chunkCache.size > 40) chunkCache.delete(chunkCache.keys().next().value);
  }
  return texts;
}
function textAt(index) {
  let low = 0, high = data.chunks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (data.chunks[middle] <= index) low = middle; else high = middle - 1;
  }
  return chunk(low)[index - data.chunks[low]];
}

const pause = () => new Promise((resolve) => setTimeout(resolve));

// One byte per text: 1 if it contains `query` (lower case). Null if `alive` reports that the search was abandoned.
async function textsWith(query, alive) {
  const hits = new Uint8Array(data.texts);
  let since = performance.now();
  for (let c = 0; c < data.chunks.length; ++c) {
    const texts = chunkCache.get(c) || embedded('text-' + c);
    for (let i = 0; i < texts.length; ++i) {
      if (texts[i].toLowerCase().includes(query)) hits[data.chunks[c] + i] = 1;
    }
    if (performance.now() - since > 30) {
      await pause();
      if (!alive()) return null;
      since = performance.now();
    }
  }
  return hits;
}

const number = (value) => Math.round(value).toLocaleString('en-US');
const percent = (fraction) => fraction === null ? '–' : Math.round(fraction * 100 + 1e-9) + ' %';
const signed = (value, digits = 0) => {
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? '' : value > 0 ? '+' : '−') + text;
};
// The program's "-4" with a real minus sign.
const minus = (text) => text.replace(/(^|[ (])-(?=[$\d])/g, '$1−');
const points = (fraction) => signed(fraction * 100 + Math.sign(fraction) * 1e-9);
// As MoneyText of text.h.
const money = (usd) => '$' + (usd === 0 ? '0' : usd >= 0.995 ? usd.toFixed(2) : usd >= 0.0995 ? usd.toFixed(3) : usd.toFixed(Math.min(12, Math.max(4, 1 - Math.floor(Math.log10(usd))))));
const plural = (count, word) => number(count) + ' ' + word + (count === 1 ? '' : 's');
const timeText = (utc) => utc && utc.replace(/^(\S+)T(\d\d:\d\d)(:\d\d)?Z$/, '$1 $2 UTC');
const rate = (arm) => arm && arm.answered > 0 ? arm.passed / arm.answered : null;
