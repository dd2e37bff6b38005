/** Paths that do not count: code of others, documentation, examples, and what programs generate. */

const folders =
  'node_modules bower_components vendor vendors third_party third-party thirdparty 3rdparty 3rd-party extern external ' +
  'deps dist cache godeps carthage pods jspm_packages testdata fixtures __snapshots__';

/** Folders that count as documentation or examples in the root. */
const rootFolders = 'docs doc documentation examples example samples sample demos demo man groovydoc javadoc';

const isInside = (words: string): Set<string> => new Set(words.split(' '));
const vendored = isInside(folders);
const documentation = isInside(rootFolders);

const files =
  /(?:[.-]min\.(?:js|css)$|^jquery[\w.-]*\.js$|^bootstrap[\w.-]*\.(?:js|css|scss|less)$|^(?:gradlew|mvnw)(?:\.(?:bat|cmd))?$|^(?:configure|config\.(?:guess|sub)|libtool|ltmain\.sh|aclocal\.m4)$|\.pb\.(?:go|cc|h|dart)$|_pb2(?:_grpc)?\.pyi?$|\.(?:designer|generated|g)\.cs$|\.g\.dart$|_generated\.\w+$|^(?:readme|license|licence|copying|changelog|changes|contributing|install)(?:\.|$))/i;

/** @param path in the bytes that git writes, from the root */
export const isExcluded = (path: string): boolean => {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  if (parts.some((part) => part.startsWith('.') || vendored.has(part.toLowerCase()))) return true;
  const [root = ''] = parts;
  return documentation.has(root.toLowerCase()) || files.test(name);
};
