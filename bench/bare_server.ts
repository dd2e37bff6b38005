/**
 * The bare limit: `node:http` that reads a request and answers with bytes made before. Told a file, it first keeps
 * eight pages in a SQLite database there, as durably as the service does.
 */
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';

const bodies = JSON.parse(await text(process.stdin)) as { [path: string]: string };
const answers = new Map(Object.entries(bodies).map(([path, body]) => [path, Buffer.from(body)]));
const nothing = Buffer.from('{}');
const [port, file] = process.argv.slice(2);

const keeperOf = (path: string): (() => void) => {
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 4000');
  database.exec('create table if not exists pages (page blob not null)');
  const insert = database.prepare('insert into pages (page) values (zeroblob(30000))');
  return () => void insert.run();
};

const keep = file === undefined ? () => undefined : keeperOf(file);

const server = createServer((request, response) => {
  request.on('data', () => undefined);
  request.on('end', () => {
    if (request.method === 'POST') keep();
    const body = answers.get(request.url ?? '') ?? nothing;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
});
server.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
