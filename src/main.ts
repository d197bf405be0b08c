#!/usr/bin/env node
/** The command `gatehouse` (cli/program.ts). */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runProgram } from './cli/program.ts';

/**
 * On machines with much memory, V8 lets the heap grow fourfold between two full collections: a process uses half as much memory again
 * without measurable CPU savings. In small containers V8 is economical by default.
 */
if (getHeapStatistics().heap_size_limit > 2 ** 31) setFlagsFromString('--heap-growing-percent=40');

/**
 * Node 20: when V8 sees that a line of code creates long-lived objects, it allocates them in the old generation from the start. That
 * includes query rows and their requests, which then stay until the next full collection and cause it sooner.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

const { env, stdin, stdout, stderr } = process;
const code = await runProgram({ args: process.argv.slice(2), env, stdin, stdout, stderr });
// Data written to a pipe may not have been flushed.
stdout.write('', () => process.exit(code));
