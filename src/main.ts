#!/usr/bin/env node
/** The command `gatehouse` (cli/program.ts). */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runProgram } from './cli/program.ts';

/**
 * On a machine with much memory V8 lets the heap grow fourfold between two full collections: a process takes half as much again, and spares no CPU that
 * could be measured. In a small container V8 is sparing by itself.
 */
if (getHeapStatistics().heap_size_limit > 2 ** 31) setFlagsFromString('--heap-growing-percent=40');

/**
 * Where V8 has once seen what a line of code makes live for long, it counts that as old from the first (Node 20): the rows that a query reads, with all that
 * belongs to their request. Each was then kept until the next full collection, which came so much sooner.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

const { env, stdin, stdout, stderr } = process;
const code = await runProgram({ args: process.argv.slice(2), env, stdin, stdout, stderr });
// What was written to a pipe may still be on its way.
stdout.write('', () => process.exit(code));
