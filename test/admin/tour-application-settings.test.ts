import { test } from 'node:test';
import { tourInChromium } from './tour-in-chromium.ts';
import { TOURS } from './tours.ts';

test('applicationSettings: every page is accessible and keeps its policy', tourInChromium(TOURS.applicationSettings));
