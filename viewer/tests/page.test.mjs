// Pages opened from files, without a server: `dal run MODEL --html page.html`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { drag, frames, launch, legend, makePage, open, picture, press, same, scrub, text, until } from './browser.mjs';

let browser;
let pendulum;
let disk;

before(async () => {
  pendulum = makePage('gallery:double-pendulum', 'pendulum', '--t-end', '5');
  disk = makePage('gallery:rolling-disk', 'disk');
  browser = await launch();
});
after(() => browser?.close());

test('the animation moves, in the plane and in space', async () => {
  for (const url of [pendulum, disk]) {
    const page = await open(browser, url, { moving: true });
    const time = () => text(page, '#time');
    const [first, began] = [await picture(page), await time()];
    await until(page, (was) => document.querySelector('#time').textContent !== was, began);
    await frames(page, 10);
    assert.ok(!same(await picture(page), first));
    await page.keyboard.press(' ');
    await frames(page, 3);
    const [still, stopped] = [await picture(page), await time()];
    await frames(page, 10);
    assert.equal(await time(), stopped, 'space pauses');
    assert.ok(same(await picture(page), still));
    assert.deepEqual(page.faults, []);
    await page.close();
  }
});

test('the time bar, keys and a click on a plot choose the time', async () => {
  const page = await open(browser, pendulum);
  await page.focus('#stage');
  await page.keyboard.press('Home'); // From here on the ring of the focus is part of the picture.
  const start = await picture(page);
  await scrub(page, 0.5);
  assert.equal(await text(page, '#time'), 't = 2.50');
  assert.ok(!same(await picture(page), start));
  const here = await legend(page);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await text(page, '#time'), 't = 2.50');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await text(page, '#time'), 't = 2.50');
  assert.deepEqual(await legend(page), here);
  await page.keyboard.press('End');
  assert.equal(await text(page, '#time'), 't = 5.00');
  await page.keyboard.press('Home');
  assert.ok(same(await picture(page), start));
  const plot = await (await page.$('.panel .u-over')).boundingBox();
  await page.mouse.move(plot.x + plot.width / 2, plot.y + 30);
  await until(page, () => Math.abs(Number(document.querySelector('#time').textContent.slice(4)) - 2.5) < 0.05);
  await page.mouse.move(plot.x + plot.width / 2, plot.y - 60);
  await until(page, () => document.querySelector('#time').textContent === 't = 0.00');
  await page.mouse.click(plot.x + plot.width / 4, plot.y + 30);
  await until(page, () => Math.abs(Number(document.querySelector('#time').textContent.slice(4)) - 1.25) < 0.05);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('sliders move the motion in a file, the page says so, and reset restores it', async () => {
  const page = await open(browser, pendulum);
  await scrub(page, 0.6);
  const [native, values] = [await picture(page), await legend(page)];
  assert.match(await text(page, '#shown'), /^native run/);
  const name = await page.$eval('.slider input[type=range]', (slider) => slider.dataset.name);
  const to = await page.$eval('.slider input[type=range]', (slider) => Number(slider.value) * 0.7 + Number(slider.max) * 0.3);
  await drag(page, name, to);
  await until(page, () => document.querySelector('#shown').dataset.kind === 'live');
  assert.match(await text(page, '#shown'), /live, computed in this page, not certified/);
  await frames(page, 3);
  assert.notDeepEqual(await legend(page), values);
  assert.ok(!same(await picture(page), native));
  await press(page, '#tab-certificate');
  assert.match(await text(page, '#panel-certificate'), /not certified/);
  await press(page, '#tab-plots');
  await press(page, '#reset');
  await until(page, () => document.querySelector('#shown').dataset.kind !== 'live');
  await frames(page, 3);
  assert.deepEqual(await legend(page), values);
  assert.ok(same(await picture(page), native));
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('plots zoom by the mouse and by keys, and show other columns', async () => {
  const page = await open(browser, pendulum);
  await page.waitForSelector('.panel .u-over');
  const chart = '.panel .canvas canvas';
  const image = () => page.$eval(chart, (canvas) => canvas.toDataURL());
  const whole = await image();
  const plot = await (await page.$('.panel .u-over')).boundingBox();
  const y = plot.y + plot.height / 2;
  await page.mouse.move(plot.x + plot.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.6, y, { steps: 4 });
  await page.mouse.up();
  await frames(page, 3);
  assert.notEqual(await image(), whole, 'a stretch is enlarged');
  assert.equal(await page.$eval('.panel .tools button', (button) => button.hidden), false);
  await page.mouse.click(plot.x + plot.width / 2, y, { count: 2 });
  await frames(page, 3);
  assert.equal(await page.$eval('.panel .tools button', (button) => button.hidden), true, 'a double click shows all');
  await page.focus('.panel .canvas');
  await page.keyboard.press('+');
  await frames(page, 2);
  assert.equal(await page.$eval('.panel .tools button', (button) => button.hidden), false);
  await page.keyboard.press('0');
  await press(page, '.add');
  const count = (await page.$$('.panel')).length;
  await until(page, (n) => document.querySelectorAll('.panel .u-over').length > 0 && document.querySelectorAll('.panel').length === n, count);
  const last = `.panel:nth-child(${count})`;
  await page.hover(`${last} select`);
  await page.select(`${last} select[title="Against"]`, '1');
  await page.select(`${last} select[title="Add a curve"]`, '0');
  assert.match(await text(page, `${last} h3`), / against /);
  await press(page, `${last} button[title^="Logarithmic"]`);
  await frames(page, 2);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('contacts and frictions have strips with words', async () => {
  const page = await open(browser, makePage('gallery:block-on-a-belt', 'belt', '--t-end', '5'));
  const strips = '.panel.strips';
  assert.match(await text(page, `${strips} h3`), /Contacts and friction/);
  const word = async (part) => {
    await scrub(page, part);
    return text(page, `${strips} .legend output`);
  };
  // It sticks until 1.5, and again from 3.85 on.
  assert.equal(await word(0.1), 'sticks');
  assert.equal(await word(0.5), 'slips');
  assert.equal(await word(0.9), 'sticks');
  const shades = await page.$eval(`${strips} canvas`, (canvas) => {
    const { width, height } = canvas;
    const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0) seen.add(`${data[i] >> 4},${data[i + 1] >> 4},${data[i + 2] >> 4}`);
    return seen.size;
  });
  assert.ok(shades > 2, 'stretches of two kinds, and words');
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('the badge tells what was checked', async () => {
  const words = async (name, ...options) => {
    const page = await open(browser, makePage('gallery:heavy-top', name, '--t-end', '1', ...options));
    const said = [await text(page, '#shown'), await page.$eval('#shown', (badge) => badge.dataset.kind)];
    await page.close();
    return said;
  };
  assert.deepEqual(await words('certified'), ['native run, certified', 'native']);
  assert.deepEqual(await words('unverified', '--no-verify'), ['native run, its error not estimated', 'native']);
});

test('what a screen reader meets has names, and is not told every frame', async () => {
  const page = await open(browser, pendulum);
  await frames(page, 3);
  const found = await page.evaluate(() => {
    const named = (one) => one.getAttribute('aria-label') || one.textContent?.trim() || one.title || (one.id && document.querySelector(`label[for="${one.id}"]`)?.textContent);
    const all = [...document.querySelectorAll('button, select, input, [role=group], [role=tabpanel], [tabindex="0"]:not(pre)')];
    const live = [...document.querySelectorAll('output')].filter((one) => one.getAttribute('aria-live') !== 'off');
    return { count: all.length, nameless: all.filter((one) => !named(one) && !one.getAttribute('aria-labelledby')).map((one) => one.outerHTML.slice(0, 120)), live: live.length };
  });
  assert.ok(found.count > 20);
  assert.deepEqual(found.nameless, []);
  assert.equal(found.live, 0);
  await page.close();
});

test('documents, colors, notices and a phone', async () => {
  const dark = [{ name: 'prefers-color-scheme', value: 'dark' }];
  const page = await open(browser, pendulum, { width: 390, height: 800, media: dark });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [night, theme] = [await ground(), await page.evaluate(() => document.documentElement.dataset.theme)];
  assert.equal(theme, 'dark');
  await press(page, '#tools button');
  assert.notEqual(await ground(), night);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `nothing is wider than the screen: ${wide}`);
  await page.focus('[role=tab][aria-selected=true]');
  await page.keyboard.press('ArrowRight');
  assert.match(await text(page, '#panel-certificate'), /Verdict/);
  assert.ok((await page.$$('#panel-certificate tbody tr')).length > 3);
  await press(page, '#tab-equations');
  assert.ok(await page.$('#panel-equations math'), 'formulas are typeset');
  await press(page, '#tab-model');
  assert.match(await text(page, '#panel-model'), /coord/);
  await press(page, '#tab-analysis');
  assert.match(await text(page, '#panel-analysis'), /degrees? of freedom/);
  await press(page, '#tab-about');
  assert.match(await text(page, '#panel-about'), /three[\s\S]*MIT[\s\S]*uplot/i);
  assert.deepEqual(page.faults, []);
  await page.close();
});
