/**
 * What sources use of `node:http` as values. An import of that module evaluates all of its exports, among them the
 * client of `fetch`, which takes a tenth of a start.
 */
export const { IncomingMessage, STATUS_CODES } = process.getBuiltinModule('node:http');
