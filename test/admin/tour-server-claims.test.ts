import { tourInChromium } from './tour-in-chromium.ts';
import { TOURS } from './tours.ts';

tourInChromium('claims of authorization servers', TOURS.serverClaims);
