/** Results that are cached for as long as the object that they are about exists, and no longer. */

/**
 * The function with its results cached, by the object's identity: for objects that are never changed, only replaced, as
 * those of an informer's cache are. The function must depend on nothing but the object.
 */
export function cachedByObject<Subject extends object, Result extends object>(
  resultOf: (subject: Subject) => Result,
): (subject: Subject) => Result {
  const cached = new WeakMap<Subject, Result>();
  return (subject) => {
    const charge = cached.get(subject);
    if (charge !== undefined) {
      return charge;
    }
    const result = resultOf(subject);
    cached.set(subject, result);
    return result;
  };
}
