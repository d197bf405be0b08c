import { test } from 'node:test';
import { tourInChromium } from '../../pages/console/tour-in-chromium.ts';
import { TOURS } from '../../pages/console/tours.ts';

test('users: every page is accessible and keeps its policy', tourInChromium(TOURS.users));
