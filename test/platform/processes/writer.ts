/**
 * A service that only writes: `writer.js <DATA_DIR>` starts or joins the embedded server and inserts rows until it is killed. Each
 * row that PostgreSQL has acknowledged is a line on standard output.
 */
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.ts';

const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '', say: (line) => console.error(line) });
const pool = new pg.Pool({ ...server.connection, max: 4 });
// The test kills the server under our hands: that is the end of this process too.
pool.on('error', () => process.exit(1));
await pool.query('CREATE TABLE IF NOT EXISTS written (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)');

const write = async () => {
  for (;;) {
    const { rows } = await pool.query<{ id: string }>('INSERT INTO written DEFAULT VALUES RETURNING id');
    process.stdout.write(`${rows[0]?.id}\n`);
  }
};
await Promise.all([write(), write(), write(), write()]).catch(() => process.exit(1));
