/** A part of the management API's operations: see operations.ts. */
import { testOperations } from './operations.ts';

testOperations(3);
