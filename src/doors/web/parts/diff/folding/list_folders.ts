/** Lists the folders of paths. Pure. */

/** Groups the paths that are deeper in a folder by the folder of the next level that contains them. */
const groupByNext = (folder: string, paths: readonly string[]): Map<string, string[]> => {
  const start = folder === '' ? 0 : folder.length + 1;
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const end = path.indexOf('/', start);
    if (end === -1) continue;
    // Only the name is compared: all paths are in the same folder.
    const name = path.slice(start, end);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [path]);
    else group.push(path);
  }
  return groups;
};

/**
 * Lists the folders that contain files, parent folders first. Descends level by level up to `max` folders, and reads
 * each part of a path at most once, however deep the paths are.
 */
export const listFolders = (paths: readonly string[], max: number): string[] => {
  const folders: { folder: string; paths: readonly string[] }[] = [{ folder: '', paths }];
  // Grows while it is read.
  for (const { folder, paths: inside } of folders) {
    for (const [name, group] of groupByNext(folder, inside)) {
      if (folders.length >= max) return folders.map((one) => one.folder);
      folders.push({ folder: folder === '' ? name : `${folder}/${name}`, paths: group });
    }
  }
  return folders.map((one) => one.folder);
};
