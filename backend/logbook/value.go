package logbook

import "reflect"

// Value returns v without the secrets in any text of it: in structs, lists,
// maps and bytes, however deep. One that holds none is returned as it is;
// another is changed in a copy only.
func (r *Redactor) Value(v any) any {
	if r.nothing() { // results with pictures pass here: they are not copied for no reason
		return v
	}
	if changed, did := r.value(reflect.ValueOf(v)); did {
		return changed.Interface()
	}
	return v
}

func (r *Redactor) value(v reflect.Value) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		if text := r.Known(v.String()); text != v.String() {
			return reflect.ValueOf(text).Convert(v.Type()), true
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v, false
		}
		if in, did := r.value(v.Elem()); did {
			out := reflect.New(v.Type()).Elem()
			if v.Kind() == reflect.Pointer {
				out.Set(reflect.New(v.Type().Elem()))
				out.Elem().Set(in)
			} else {
				out.Set(in)
			}
			return out, true
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			was := string(v.Bytes())
			if text := r.Known(was); text != was {
				return reflect.ValueOf([]byte(text)).Convert(v.Type()), true
			}
			return v, false
		}
		out, did := v, false
		for i := range v.Len() {
			if in, changed := r.value(v.Index(i)); changed {
				if !did {
					out, did = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
					reflect.Copy(out, v)
				}
				out.Index(i).Set(in)
			}
		}
		return out, did
	case reflect.Map:
		out, did := v, false
		for _, key := range v.MapKeys() {
			if in, changed := r.value(v.MapIndex(key)); changed {
				if !did {
					out, did = reflect.MakeMapWithSize(v.Type(), v.Len()), true
					for _, k := range v.MapKeys() {
						out.SetMapIndex(k, v.MapIndex(k))
					}
				}
				out.SetMapIndex(key, in)
			}
		}
		return out, did
	case reflect.Struct:
		out, did := v, false
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if in, changed := r.value(v.Field(i)); changed {
				if !did {
					out, did = reflect.New(v.Type()).Elem(), true
					out.Set(v)
				}
				out.Field(i).Set(in)
			}
		}
		return out, did
	}
	return v, false
}
