import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A strict reader of JSON: objects are {@link Members}, arrays lists, numbers BigInteger or Double. */
final class Json {
    private static final Pattern NUMBER =
            Pattern.compile("-?(?:0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?");

    static final class Malformed extends Exception {}

    /** An object that knows whether it had a name twice. */
    static final class Members extends LinkedHashMap<String, Object> {
        transient boolean repeated;
    }

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(byte[] body) throws CharacterCodingException, Malformed {
        Json json = new Json(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString());
        Object value = json.value(0);
        json.peek();
        expect(json.at == json.text.length());
        return value;
    }

    private static void expect(boolean condition) throws Malformed {
        if (!condition) {
            throw new Malformed();
        }
    }

    /** The next character that is no blank; at the end NUL, which nothing begins with. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private boolean take(char wanted) {
        boolean isNext = peek() == wanted;
        at += isNext ? 1 : 0;
        return isNext;
    }

    /** A value inside of so many brackets. */
    private Object value(int depth) throws Malformed {
        char first = peek();
        expect(depth < 127 || first != '{' && first != '[');
        return switch (first) {
            case '{' -> object(depth + 1);
            case '[' -> array(depth + 1);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Object word(String word, Object value) throws Malformed {
        expect(text.startsWith(word, at));
        at += word.length();
        return value;
    }

    private Members object(int depth) throws Malformed {
        Members members = new Members();
        take('{');
        for (boolean isFirst = true; !take('}'); isFirst = false) {
            expect(isFirst || take(','));
            expect(peek() == '"');
            String name = string();
            expect(take(':'));
            members.repeated |= members.containsKey(name);
            members.put(name, value(depth));
        }
        return members;
    }

    private List<Object> array(int depth) throws Malformed {
        List<Object> values = new ArrayList<>();
        take('[');
        for (boolean isFirst = true; !take(']'); isFirst = false) {
            expect(isFirst || take(','));
            values.add(value(depth));
        }
        return values;
    }

    private String string() throws Malformed {
        StringBuilder value = new StringBuilder();
        at++;
        while (true) {
            expect(at < text.length() && text.charAt(at) >= ' ');
            char next = text.charAt(at++);
            if (next == '"') {
                break;
            }
            value.append(next == '\\' ? escape() : next);
        }
        expect(StandardCharsets.UTF_8.newEncoder().canEncode(value)); // no half of a surrogate pair
        return value.toString();
    }

    private char escape() throws Malformed {
        expect(at < text.length());
        char letter = text.charAt(at++);
        if (letter == 'u') {
            expect(at + 4 <= text.length() && text.substring(at, at + 4).matches("[0-9a-fA-F]{4}"));
            at += 4;
            return (char) HexFormat.fromHexDigits(text, at - 4, at);
        }
        int index = "\"\\/bfnrt".indexOf(letter);
        expect(index >= 0);
        return "\"\\/\b\f\n\r\t".charAt(index);
    }

    private Number number() throws Malformed {
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        expect(number.lookingAt() && Double.isFinite(Double.parseDouble(number.group())));
        at = number.end();
        boolean isInteger = number.group(1) == null && number.group(2) == null;
        return isInteger ? new BigInteger(number.group()) : (Number) Double.valueOf(number.group());
    }
}
