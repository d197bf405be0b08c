/** A part of the management API's operations, called wrongly. */
import { describe } from 'node:test';
import { operationRefusals } from './operation-refusals.ts';

describe('what every operation of the management API refuses, part 1 of 2', operationRefusals(1));
