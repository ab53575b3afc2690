// Pages of the gallery render without a word of complaint: a sample, or with ALL_PAGES=1 all of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { dal, drag, frames, launch, makePage, open, scrub, text, until } from './browser.mjs';

const SAMPLE = ['bouncing-ball', 'whipple-bicycle', 'n-link-chain', 'everything-at-once', 'two-masses-incomplete'];

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** The names that `dal gallery` lists, one a line. */
function names() {
  const list = execFileSync(dal, ['gallery'], { encoding: 'utf8' });
  return list.split('\n').map((line) => line.trim().split(/\s+/)[0]).filter((name) => /^[a-z][a-z0-9/-]*$/.test(name));
}

const chosen = process.env.ALL_PAGES ? names() : SAMPLE;
let alive = 0;
for (const name of chosen) {
  test(`gallery:${name}`, async (t) => {
    let url;
    try {
      url = makePage(`gallery:${name}`, name.replaceAll('/', '-'));
    } catch (error) {
      // Some examples show what cannot be run; then there is no page, and the reason is told.
      t.skip(String(error).slice(0, 200));
      return;
    }
    const page = await open(browser, url);
    await frames(page, 2);
    await scrub(page, 0.5);
    for (const tab of await page.$$('[role=tab]')) await tab.evaluate((one) => one.click());
    const slider = await page.$eval('.slider input[type=range]:not(:disabled)', (one) => ({ name: one.dataset.name, to: Number(one.value) * 0.9 + Number(one.max) * 0.1 })).catch(() => null);
    let said;
    if (slider) {
      await drag(page, slider.name, slider.to);
      await until(page, () => document.querySelector('#shown').dataset.kind === 'live');
      said = await text(page, '#shown');
      alive += 1;
    } else {
      said = await text(page, '#sliders .note').catch(() => 'nothing to move');
      assert.match(said, /These move nothing here: .{10,}|nothing to move/, 'a page that is not alive says why');
    }
    const cost = await page.evaluate(async () => {
      // The time of a frame: everything that is done to show another moment.
      const bar = document.querySelector('#scrub');
      const begin = performance.now();
      for (let i = 0; i < 30; i++) {
        bar.value = i / 30;
        bar.dispatchEvent(new Event('input'));
      }
      return (performance.now() - begin) / 30;
    });
    t.diagnostic(`${cost.toFixed(2)} ms a frame; ${said}`);
    assert.deepEqual(page.faults, []);
    await page.close();
  });
}
test('most pages are alive without a server', { skip: !process.env.ALL_PAGES }, () => {
  assert.ok(alive >= 0.8 * chosen.length, `${alive} of ${chosen.length}`);
});
