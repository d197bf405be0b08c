import { tourInChromium } from './tour-in-chromium.ts';
import { TOURS } from './tours.ts';

tourInChromium('access policies and the simulator', TOURS.serverPolicies);
