import { tourInChromium } from './tour-in-chromium.ts';
import { TOURS } from './tours.ts';

tourInChromium('applicationLife', TOURS.applicationLife);
