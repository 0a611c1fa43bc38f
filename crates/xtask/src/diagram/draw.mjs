// Draws a D2 source: node draw.mjs SOURCE PICTURE
import { readFileSync, writeFileSync } from 'node:fs';
import { D2 } from '@terrastruct/d2';

const [source, picture] = process.argv.slice(2);
const look = { themeID: 0, darkThemeID: 200, pad: 16, noXMLTag: true, salt: 'carryover' };
const d2 = new D2();
const { diagram, renderOptions } = await d2.compile(readFileSync(source, 'utf8'), { layout: 'elk', ...look });
writeFileSync(picture, await d2.render(diagram, { ...renderOptions, ...look }));
// Its worker would keep us waiting.
process.exit(0);
