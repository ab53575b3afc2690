// What the tests share: a browser, pages made by `dal`, and ways to look at them.
//
// DAL is the program, BROWSER a Chromium; crates/cli/tests/browser.rs sets both.
import puppeteer from 'puppeteer-core';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const dal = process.env.DAL ?? 'dal';
export const folder = mkdtempSync(join(tmpdir(), 'dalembert-pages-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

export function launch() {
  return puppeteer.launch({
    executablePath: process.env.BROWSER ?? '/usr/bin/chromium',
    headless: true,
    // Without a graphics card: canvases by the processor, drawings in space by a software WebGL.
    args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage'],
  });
}

/** The page of a run, as a file's address. A verdict that is not `pass` is no failure here. */
export function makePage(model, name, ...options) {
  const file = join(folder, `${name}.html`);
  try {
    execFileSync(dal, ['run', model, '--html', file, ...options], { stdio: 'pipe' });
  } catch (error) {
    if (error.status !== 3) throw new Error(`dal run ${model}: ${error.stderr}`);
  }
  return pathToFileURL(file).href;
}

/** Opens a page; `faults` collects whatever a browser complains about. */
export async function open(browser, url, { width = 1280, height = 860, moving = false, media = [], sign = 'html[data-ready]' } = {}) {
  const page = await browser.newPage();
  page.faults = [];
  page.on('console', (message) => {
    if (['error', 'warning', 'warn'].includes(message.type()) && !isOfTheDriver(message.text())) page.faults.push(message.text());
  });
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('requestfailed', (request) => page.faults.push(`not loaded: ${request.url().slice(0, 100)}`));
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: moving ? 'no-preference' : 'reduce' }, ...media]);
  await page.goto(url);
  await page.waitForSelector(sign);
  return page;
}

// Drawing without a graphics card is slow in ways that its driver mentions.
const isOfTheDriver = (text) => text.includes('GPU stall') || text.includes('WebGL: CONTEXT_LOST') || text.includes('GL Driver Message');

export const text = (page, selector) => page.$eval(selector, (element) => element.textContent);

/** Waits until something is true in the page. */
export const until = (page, what, ...given) => page.waitForFunction(what, { timeout: 20000, polling: 50 }, ...given);

/**
 * What the drawing shows, in fewer pixels. A busy machine puts what was drawn onto the screen when it
 * comes to it, so a picture counts once it was there twice; of a motion that plays, the last does.
 */
export async function picture(page) {
  await frames(page, 2);
  const figure = await page.$('#stage .figure');
  let last = await shrunk(page, figure);
  for (let i = 0; i < 6; i++) {
    const now = await shrunk(page, figure);
    if (same(now, last)) break;
    last = now;
  }
  return last;
}

async function shrunk(page, figure) {
  const shot = await figure.screenshot({ encoding: 'base64' });
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width >> 2, image.height >> 2];
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return [...context.getImageData(0, 0, canvas.width, canvas.height).data];
  }, shot);
}

/** Whether two pictures show the same: a browser smooths one and the same line now so, now so. */
export const same = (a, b) => a.length === b.length && a.every((x, i) => Math.abs(x - b[i]) <= 12);

export const frames = (page, count) =>
  page.evaluate(async (n) => {
    for (let i = 0; i < n; i++) await new Promise(requestAnimationFrame);
  }, count);

/** Clicks what may move while it is scrolled to: panels are filled, and grow, when they come into view. */
export async function press(page, selector) {
  let last = NaN;
  for (let i = 0; i < 100; i++) {
    const place = await page.$eval(selector, (element) => {
      element.scrollIntoView({ block: 'nearest' });
      return element.getBoundingClientRect().top;
    });
    if (place === last) break;
    last = place;
    await frames(page, 3);
  }
  await page.click(selector);
}

/** Moves the time bar to a part of the run. */
export const scrub = (page, part) =>
  page.$eval('#scrub', (bar, value) => {
    bar.value = value;
    bar.dispatchEvent(new Event('input'));
  }, part);

/** Drags a slider to a value; `release` sends it to a server. */
export const drag = (page, name, value, release = false) =>
  page.$eval(`input[data-name="${escaped(name)}"]`, (slider, to, released) => {
    slider.value = to;
    slider.dispatchEvent(new Event('input'));
    if (released) slider.dispatchEvent(new Event('change'));
  }, value, release);

const escaped = (name) => name.replace(/["\\]/g, '\\$&');

/** What the legend of the first panel shows. */
export const legend = (page) => page.$$eval('.panel:first-child .legend output', (list) => list.map((one) => one.textContent));

/** Starts `dal view`, and gives its address. */
export async function serve(model, ...options) {
  const child = spawn(dal, ['view', model, '--port', '0', ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
      const found = said.match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
    child.on('exit', (code) => reject(new Error(`dal view ended with ${code}: ${said}`)));
  });
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  return { url, child, ended };
}
