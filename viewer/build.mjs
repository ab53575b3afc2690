// Builds the viewer into one HTML template, `crates/page/assets/viewer.html`, with the
// notices of what is inside, `NOTICES.txt` beside it. The data of a page takes the place
// of `/*PAGE*/`. With `--check`: says whether the committed files are what this build gives.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, '../crates/page/assets');

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
    charset: 'utf8',
    legalComments: 'none', // The notices are whole, in a place of their own.
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

/** What moves a page's model, for programs that run it without a browser: the tests. */
async function liveAlone() {
  const result = await build({
    entryPoints: [join(here, 'src/live/index.ts')],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'neutral',
    target: ['es2022'],
    charset: 'utf8',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

function notices() {
  const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  const parts = Object.keys(dependencies).sort().map((name) => {
    const folder = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = readFileSync(join(folder, 'LICENSE'), 'utf8').replace(/\r/g, '').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const line = '\n' + '-'.repeat(72) + '\n\n';
  return 'This page contains the following software of others.\n' + line + parts.join(line);
}

/** Puts a text where a mark stands; the mark stands once. */
function put(page, mark, text) {
  const [before, after, more] = page.split(mark);
  if (after === undefined || more !== undefined) throw new Error(`${mark} must stand once`);
  return before + text + after;
}

const script = (await bundle('src/main.ts')).replaceAll('</script', '<\\/script');
const style = await bundle('src/style/main.css');
const terms = notices();
if (/<\/?script|<!--/i.test(terms)) throw new Error('a notice would end its element');

let html = readFileSync(join(here, 'src/index.html'), 'utf8');
html = put(html, '/*STYLE*/', style);
html = put(html, '/*NOTICES*/', terms);
html = put(html, '/*SCRIPT*/', script);
if (html.split('/*PAGE*/').length !== 2) throw new Error('the place of the data must stand once');

const files = { 'viewer.html': html, 'NOTICES.txt': terms, 'live.cjs': await liveAlone() };
if (process.argv.includes('--check')) {
  const stale = Object.entries(files).filter(([name, text]) => readFileSync(join(assets, name), 'utf8') !== text);
  if (stale.length > 0) {
    console.error(`not what the sources give: ${stale.map(([name]) => name).join(', ')}; run \`npm run build\` in viewer/`);
    process.exit(1);
  }
} else {
  mkdirSync(assets, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(assets, name), text);
}
console.log(Object.entries(files).map(([name, text]) => `${name} ${(Buffer.byteLength(text) / 1000).toFixed(0)} kB`).join(', '));
