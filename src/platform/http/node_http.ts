/**
 * Values of `node:http` used by the sources. Importing that module evaluates all of its exports, including the client
 * of `fetch`, which takes a tenth of a start.
 */
export const { IncomingMessage, STATUS_CODES } = process.getBuiltinModule('node:http');
