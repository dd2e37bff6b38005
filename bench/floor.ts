/** The bare limit: `node:http` that reads a request and answers with bytes made before. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const bodies = JSON.parse(await text(process.stdin)) as { [path: string]: string };
const answers = new Map(Object.entries(bodies).map(([path, body]) => [path, Buffer.from(body)]));
const nothing = Buffer.from('{}');

const server = createServer((request, response) => {
  request.on('data', () => undefined);
  request.on('end', () => {
    const body = answers.get(request.url ?? '') ?? nothing;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
