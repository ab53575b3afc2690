// Makes the pictures of the book's chapter on the page: `DAL=… npm run pictures`.
import { fileURLToPath } from 'node:url';
import { frames, launch, makePage, open, scrub } from './browser.mjs';

const PICTURES = [
  { file: 'page.png', model: 'gallery:double-pendulum', options: ['--t-end', '7'], theme: 'light', at: 0.72 },
  { file: 'page-space.png', model: 'gallery:rolling-disk', options: [], theme: 'dark', at: 0.66 },
];

const browser = await launch();
for (const { file, model, options, theme, at } of PICTURES) {
  const url = makePage(model, file, ...options);
  const page = await open(browser, url, { width: 1200, height: 760, media: [{ name: 'prefers-color-scheme', value: theme }] });
  await scrub(page, at);
  await frames(page, 20);
  await page.screenshot({ path: fileURLToPath(new URL(`../../docs/images/${file}`, import.meta.url)) });
  await page.close();
}
await browser.close();
