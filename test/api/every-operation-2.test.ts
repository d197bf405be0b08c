/** A part of the management API's operations, called as they are to be. */
import { describe } from 'node:test';
import { operationAnswers } from './operation-answers.ts';

describe('every operation of the management API, part 2 of 2', operationAnswers(2));
