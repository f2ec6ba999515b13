export function View(): null {
  return null;
}
