// What pages of large systems cost: `DAL=… npm run measure`, or with names of models behind `--`.
//
// size: of the file, and packed as servers send it. ready: from opening it to its first picture.
// frame: what the page's thread does, script, layout and drawing, for each picture of a motion that
// plays; a screen that is renewed sixty times a second leaves 16.7 ms. drag: the same for a slider
// that is dragged: the motion is computed in the page, and all of it is shown.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { drag, frames, launch, makePage, open } from './browser.mjs';

const LARGE = [
  ['gallery:double-pendulum'],
  ['gallery:whipple-bicycle'],
  ['gallery:bricard'],
  ['gallery:n-link-chain', '--set', 'N=100', '--t-end', '2'],
];
const asked = process.argv.slice(2).map((model) => [model]);

/** Milliseconds of the page's thread. */
const busy = async (page) => (await page.metrics()).TaskDuration * 1000;

async function playing(page, count = 90) {
  await page.keyboard.press(' ');
  await frames(page, 10);
  const before = await busy(page);
  await frames(page, count);
  const cost = ((await busy(page)) - before) / count;
  await page.keyboard.press(' ');
  return cost;
}

async function dragging(page, count = 12) {
  const slider = await page.$eval('.slider input[type=range]:not(:disabled)', ({ dataset, value, min, max }) => ({ name: dataset.name, value: Number(value), step: (Number(max) - Number(min)) / 100 })).catch(() => null);
  if (!slider) return null;
  await drag(page, slider.name, slider.value + slider.step); // The first one compiles.
  await frames(page, 3);
  const before = await busy(page);
  for (let i = 2; i < 2 + count; i++) {
    await drag(page, slider.name, slider.value + i * slider.step);
    await frames(page, 2);
  }
  return ((await busy(page)) - before) / count;
}

const browser = await launch();
console.log('| page | size, kB | packed, kB | ready, ms | frame, ms | drag, ms |');
console.log('|---|---|---|---|---|---|');
for (const [model, ...options] of asked.length > 0 ? asked : LARGE) {
  const url = makePage(model, 'measured', ...options);
  const file = readFileSync(fileURLToPath(url));
  const begin = performance.now();
  const page = await open(browser, url);
  await frames(page, 1);
  const ready = performance.now() - begin;
  const [frame, moved] = [await playing(page), await dragging(page)];
  const kilo = (bytes) => Math.round(bytes / 1000);
  const name = [model.replace('gallery:', ''), ...options.filter((one) => one.includes('='))].join(', ');
  const numbers = [kilo(file.length), kilo(gzipSync(file).length), ready.toFixed(0), frame.toFixed(1), moved === null ? '–' : moved.toFixed(0)];
  console.log(`| ${[name, ...numbers].join(' | ')} |`);
  await page.close();
}
await browser.close();
