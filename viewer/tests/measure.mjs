// What pages of large systems cost: `DAL=… npm run measure`, or with names of models behind `--`.
//
// size: of the file, and packed as servers send it. ready: what it takes to be there with its first
// picture. frame: script, layout and drawing for each picture of a motion that plays; a screen that
// is renewed sixty times a second leaves 16.7 ms. drag: the same for each place of a slider that is
// dragged: the motion is computed in the page, and all of it is shown. Times are those that the
// page's thread has worked, so that others on the machine do not count.
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

/** Milliseconds that the page's thread has worked. */
async function busy(page) {
  page.meter ??= await page.createCDPSession();
  await page.meter.send('Performance.enable', { timeDomain: 'threadTicks' });
  const { metrics } = await page.meter.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
}

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
  const page = await open(browser, 'about:blank', { sign: 'html' });
  const before = await busy(page);
  await page.goto(url);
  await page.waitForSelector('html[data-ready]');
  await frames(page, 2);
  const ready = (await busy(page)) - before;
  const [frame, moved] = [await playing(page), await dragging(page)];
  const kilo = (bytes) => Math.round(bytes / 1000);
  const name = [model.replace('gallery:', ''), ...options.filter((one) => one.includes('='))].join(', ');
  const numbers = [kilo(file.length), kilo(gzipSync(file).length), ready.toFixed(0), frame.toFixed(1), moved === null ? '–' : moved.toFixed(0)];
  console.log(`| ${[name, ...numbers].join(' | ')} |`);
  await page.close();
}
await browser.close();
