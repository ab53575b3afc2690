// The page behind `dal view`.
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { drag, folder, frames, launch, legend, open, picture, press, same, scrub, serve, text, until } from './browser.mjs';

const MODEL = `system Pendulum on a rod
param m = 1, l = 1, g = 9.81
coord x, y
kinetic m/2*(x'^2 + y'^2)
potential m*g*y
constraint rod: x^2 + y^2 = l^2
start x = 0.6
draw line [0, 0], [x, y]
draw point [x, y]
run t = 0..4
`;

/** Saves a file at once, so that a busy machine does not show half of it. */
function save(file, text) {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

test('saving, breaking and mending a file, and releasing a slider', async () => {
  const file = join(folder, 'pendulum.dal');
  save(file, MODEL);
  const server = await serve(file);
  try {
    const page = await open(browser, server.url);
    await scrub(page, 0.4);
    const [first, values] = [await picture(page), await legend(page)];
    assert.equal(await page.$eval('#trouble', (place) => place.hidden), true);

    save(file, MODEL.replace('x = 0.6', 'x = -0.8'));
    await until(page, (was) => document.querySelector('.panel:first-child .legend output').textContent !== was, values[0]);
    assert.equal(await text(page, '#time'), 't = 1.60', 'the time stays');
    const second = await picture(page);
    assert.ok(!same(second, first));

    save(file, MODEL.replace('m*g*y', 'm*g*yy'));
    await until(page, () => !document.querySelector('#trouble').hidden);
    const words = await text(page, '#trouble');
    assert.match(words, /yy/);
    assert.match(words, /\^/, 'the place is pointed at');
    assert.ok(same(await picture(page), second), 'the last good motion stays');

    save(file, MODEL);
    await until(page, () => document.querySelector('#trouble').hidden);
    await until(page, (was) => document.querySelector('.panel:first-child .legend output').textContent === was, values[0]);
    assert.ok(same(await picture(page), first));

    await drag(page, 'g', 3);
    await until(page, () => document.querySelector('#shown').dataset.kind === 'live');
    await drag(page, 'g', 3.2, true);
    await until(page, () => document.querySelector('#shown').dataset.kind === 'native');
    assert.match(await text(page, '#shown'), /native run, certified/);
    assert.notDeepEqual(await legend(page), values);
    const slider = await page.$eval('input[data-name="g"]', (input) => Number(input.value));
    assert.ok(Math.abs(slider - 3.2) < 0.06, `the slider stays where it was put: ${slider}`);
    await press(page, '#reset');
    await until(page, (was) => document.querySelector('.panel:first-child .legend output').textContent === was, values[0]);
    await frames(page, 2);
    assert.ok(same(await picture(page), first));
    assert.deepEqual(page.faults, []);
    await page.close();
  } finally {
    server.child.kill('SIGINT');
  }
  assert.equal(await server.ended, 0, 'Ctrl-C is how it ends');
});

test('a file that is wrong from the start is waited for', async () => {
  const file = join(folder, 'wrong.dal');
  save(file, MODEL.replace('coord x, y', 'coord x'));
  const server = await serve(file);
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    await until(page, () => document.querySelector('#trouble').textContent.includes('error'));
    save(file, MODEL);
    await page.waitForSelector('html[data-ready]', { timeout: 20000 });
    await page.close();
  } finally {
    server.child.kill('SIGINT');
  }
});
